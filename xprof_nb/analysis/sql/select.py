"""Answer a SELECT statement over everything in the profile, all hosts together.

DuckDB reads the profile's own columns in place. It runs locked up: no files, no network, no extensions, no settings;
one statement that was checked before, within a time, a memory and a number of rows.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pandas as pd

from xprof_nb.analysis.selection import Selection, chosen_parts
from xprof_nb.analysis.sql.guard import complaint, tables_in
from xprof_nb.analysis.sql.schema import schema, tables
from xprof_nb.analysis.sql.tables import parts_of
from xprof_nb.errors import ProfileError, UsageError
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
from xprof_nb.model.profile import ProfileData

MEMORY_BYTES = 1 << 30
_LOCKED_UP: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "memory_limit": f"{MEMORY_BYTES}B",
    "threads": "2",
}


def sql(profile: ProfileData, selection: Selection, text: str, limit: int = 100_000, seconds: float = 30) -> Answer:
    """Return the rows of a SELECT statement; the schema of the tables if the text is empty.

    Parameters
    ----------
    selection
        Narrows every table it makes sense for.
    text
        DuckDB's SQL over the tables of `xprof_nb.analysis.sql.schema`; only those it mentions are made.
    limit
        Most rows to return.
    seconds
        Longest time it may take.

    Raises
    ------
    UsageError
        It is no SELECT statement, or asks for what there is not, or what is not allowed.
    ProfileError
        It takes longer than ``seconds`` or more than 1 GiB.
    """
    if not text.strip():
        frame = schema()
        return Answer(frame, {"sentence": f"{len(tables())} tables: {', '.join(tables())}."})
    mentioned = tables_in(text, tables())
    if selection != Selection(window_ps=selection.window_ps):
        chosen_parts(profile, selection)  # says what it does not find
    began = time.monotonic()
    frame = _run(profile, selection, text, sorted(mentioned), limit, seconds)
    frame, notes = _plain(frame), list(profile.notes)
    row_count = min(len(frame), limit)
    if len(frame) > limit:
        frame = frame.iloc[:limit]
        notes.append(
            f"The first {units.count(limit)} rows are given; limit= takes more, or LIMIT and WHERE narrow the question."
        )
    if not len(frame):
        notes.append(_why_empty(profile, selection, sorted(mentioned)))
    summary = {"row_count": row_count, "tables": sorted(mentioned), "sentence": f"{units.counted(row_count, 'row')}."}
    return Answer(frame, {**summary, "seconds": time.monotonic() - began}, tuple(notes))


def _run(
    profile: ProfileData, selection: Selection, text: str, mentioned: list[str], limit: int, seconds: float
) -> pd.DataFrame:
    """Return up to ``limit`` rows and one more, if there is one."""
    import duckdb  # noqa: PLC0415 - most questions need no database

    with duckdb.connect(":memory:", config=_LOCKED_UP) as database:
        for table in mentioned:
            _register(database, table, parts_of(table, profile, selection))
        database.execute("SET lock_configuration = true")
        stop = threading.Timer(seconds, database.interrupt)
        stop.start()
        try:
            return database.sql(text).limit(limit + 1).df()
        except duckdb.InterruptException as error:
            raise ProfileError(
                f"the query took longer than {seconds:g} s",
                hint="Narrow it by WHERE, window_ps= or LIMIT inside a subquery, look for a join without a condition, "
                "or give it more seconds=.",
            ) from error
        except duckdb.OutOfMemoryException as error:
            raise ProfileError(
                f"the query needs more than {MEMORY_BYTES >> 30} GiB",
                hint="Narrow it by WHERE or window_ps=, look for a join without a condition, or aggregate sooner.",
            ) from error
        except duckdb.Error as error:
            raise UsageError(
                f"the query cannot be answered: {complaint(error)}",
                hint="profile.sql() without text lists tables and columns.",
            ) from error
        finally:
            stop.cancel()


def _register(database: Any, table: str, parts: list[pd.DataFrame]) -> None:
    """Make a table of the parts of all hosts where they lie."""
    names = [f"{table}#{number}" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        database.register(name, part)
    rows = " UNION ALL ".join(f'SELECT * FROM "{name}"' for name in names)  # noqa: S608 - names of our own
    database.execute(f"CREATE VIEW {table} AS {rows}")


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a result in which every column is numbers, truth values or text."""
    return pd.DataFrame({str(name): _plain_column(frame[name]) for name in frame})


def _plain_column(column: pd.Series[Any]) -> pd.Series[Any]:
    if pd.api.types.is_numeric_dtype(column.dtype):  # truth values are
        return column
    missing = column.isna().to_numpy()
    values = [
        None if gone else value if isinstance(value, str) else str(value)
        for value, gone in zip(column, missing, strict=True)
    ]
    return words(values)


def _why_empty(profile: ProfileData, selection: Selection, mentioned: list[str]) -> str:
    empty = [table for table in mentioned if not sum(map(len, parts_of(table, profile, selection)))]
    if empty:
        return f"No row: this profile has nothing in {', '.join(empty)}; the question of that name says why."
    return "No row meets the conditions."
