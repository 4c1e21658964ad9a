"""Where profiler servers listen: ``host:port``, several with commas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from xprof_nb.errors import UsageError

MOST_SERVERS = 1024
_SCHEME = "grpc://"
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.%\w]+)\]|(?P<name>[\w.-]+)):(?P<port>\d{1,5})", re.ASCII)
_HINT = "Write host:port, several with commas: the port is the one given to `jax.profiler.start_server`."


@dataclass(frozen=True)
class Address:
    """One profiler server; as text what a person typed, ``[…]:port`` for IPv6."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def addresses(servers: str | Iterable[str]) -> tuple[Address, ...]:
    """Return the addresses of a text or of several, each once, in order.

    Raises
    ------
    UsageError
        One is not an address, there is none, or there are more than `MOST_SERVERS`.
    """
    texts = [servers] if isinstance(servers, str) else list(servers)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{servers!r} names no profiler server", hint=_HINT)
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("no profiler server is named", hint=_HINT)
    if len(parts) > MOST_SERVERS:
        raise UsageError(f"{len(parts):,} profiler servers at once", hint=f"At most {MOST_SERVERS:,}.")
    return tuple(dict.fromkeys(_address(part) for part in parts))


def _address(text: str) -> Address:
    match = _ADDRESS.fullmatch(text.removeprefix(_SCHEME))
    if match is None or not 0 < int(match["port"]) < 2**16:
        raise UsageError(f"{text[:100]!r} is not the address of a profiler server", hint=_HINT)
    return Address(match["v6"] or match["name"], int(match["port"]))
