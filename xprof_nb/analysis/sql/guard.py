"""Is this SQL harmless? One SELECT statement over known tables, with functions that cannot take over the machine.

DuckDB itself keeps files, extensions and settings out of reach; what it lets through is checked here, on its own
parser's tree: table functions that read outside the tables, and text functions whose result can outgrow the memory
limit, which covers tables, sorts and aggregates but not a single value.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from xprof_nb.errors import UsageError

LONGEST_TEXT = 20_000
MOST_CONCATENATIONS = 8
_CONCATENATIONS = ("||", "concat", "concat_ws")
_TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
_ALLOWED = """
+ - * / // % ^ ** & | ~ << >> || ~~ !~~ ~~* !~~* ~~~ ^@ @ ! like_escape ilike_escape not_like_escape not_ilike_escape
abs acos any_value approx_count_distinct approx_quantile arg_max arg_max_null arg_min arg_min_null argmax argmin
array_agg array_extract asin atan atan2 avg bit_and bit_count bit_or bit_xor bool_and bool_or cbrt ceil ceiling coalesce
concat concat_ws contains corr cos cosh count count_if count_star countif covar_pop covar_samp cume_dist degrees
dense_rank ends_with entropy even exp fdiv first first_value floor fmod geomean geometric_mean greatest group_concat
grouping grouping_id hash histogram if ifnull instr isfinite isinf isnan kurtosis kurtosis_pop lag last last_value lcase
lead least left len length list list_value listagg ln log log10 log2 lower ltrim mad max max_by mean median min min_by
mod mode nth_value ntile nullif ord percent_rank pi position pow power prefix product quantile quantile_cont
quantile_disc radians random rank rank_dense regexp_extract regexp_full_match regexp_matches regr_avgx regr_avgy
regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy right round round_even row row_number rtrim sem
sign signbit sin sinh skewness split_part sqrt starts_with stddev stddev_pop stddev_samp string_agg strlen strpos
struct_extract struct_pack substr substring suffix sum tan tanh trim trunc typeof ucase unnest upper var_pop var_samp
variance width_bucket xor
"""
_FUNCTIONS = frozenset(_ALLOWED.split())


def tables_in(text: str, known: Collection[str]) -> set[str]:
    """Return the known tables a statement reads.

    Raises
    ------
    UsageError
        It is not one harmless SELECT statement; says what is the matter and what there is instead.
    """
    statement = _tree(text)
    tables: set[str] = set()
    functions: Counter[str] = Counter()
    recursive, named = False, _named_subqueries(statement)
    for node in _nodes(statement):
        kind = node.get("type")
        if kind == "BASE_TABLE":
            table = str(node.get("table_name")).lower()
            if node.get("schema_name") or node.get("catalog_name") or (table not in known and table not in named):
                raise _unknown_table(str(node.get("table_name")), known)
            tables.add(table)
        elif kind == "TABLE_FUNCTION":
            functions[_table_function(node)] -= 1
        elif kind == "SHOW_REF":
            raise UsageError(
                "only SELECT is answered here", hint="profile.sql() without text lists tables and columns."
            )
        elif kind == "RECURSIVE_CTE_NODE":
            recursive = True
        if "function_name" in node:
            functions[str(node["function_name"]).lower()] += 1
    _check_functions(functions, recursive)
    return tables & set(known)


def _tree(text: str) -> Mapping[str, Any]:
    """Return the syntax tree of the one statement of a text."""
    import duckdb  # noqa: PLC0415 - most questions need no database

    if len(text) > LONGEST_TEXT:
        raise UsageError(f"the statement has {len(text):,} characters", hint=f"At most {LONGEST_TEXT:,} are taken.")
    if "\0" in text:
        raise UsageError("the statement holds a NUL character", hint="Take it out.")
    with duckdb.connect(":memory:") as parser:
        try:
            found = parser.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchone()
            tree = json.loads(found[0]) if found else {}
        except (duckdb.Error, RecursionError, UnicodeError) as error:
            raise UsageError(f"the statement cannot be read: {complaint(error)}") from error
    if tree.get("error"):
        raise UsageError(_refusal(tree, text), hint="profile.sql() without text lists tables and columns.")
    statements = tree.get("statements", [])
    if len(statements) != 1:
        raise UsageError(f"{len(statements)} statements", hint="Give one SELECT statement.")
    return dict(statements[0])


def complaint(error: Exception) -> str:
    """Return what DuckDB complains about, without its picture of the line."""
    lines = str(error).partition("\n\nLINE ")[0].splitlines() or [type(error).__name__]
    return " ".join(line.strip() for line in lines if line.strip())[:500].rstrip("!.")


def _refusal(tree: Mapping[str, Any], text: str) -> str:
    what = str(tree.get("error_message", "it is no SQL"))
    if "Only SELECT" in what:
        return "only SELECT is answered here: nothing can be written, attached, installed or set"
    position = str(tree.get("position", ""))
    near = f" near {text[int(position) : int(position) + 30]!r}" if position.isdecimal() else ""
    return f"the SQL is wrong: {what}{near}"


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _named_subqueries(statement: Mapping[str, Any]) -> set[str]:
    """Return the names that WITH gives."""
    named = set()
    for node in _nodes(statement):
        entries = node["cte_map"].get("map", []) if isinstance(node.get("cte_map"), dict) else []
        named |= {str(entry["key"]).lower() for entry in entries}
    return named


def _table_function(node: Mapping[str, Any]) -> str:
    """Return the name of a function in the place of a table; as a scalar the same one could make a list of any size."""
    function = node.get("function")
    name = str(function.get("function_name", "")).lower() if isinstance(function, dict) else ""
    if name not in _TABLE_FUNCTIONS:
        raise UsageError(
            f"{name or 'this table function'}() is not available here",
            hint=f"Tables come from the profile alone; {', '.join(sorted(_TABLE_FUNCTIONS))} make rows.",
        )
    return name


def _check_functions(functions: Counter[str], recursive: bool) -> None:
    unknown = sorted(name for name, count in functions.items() if count > 0 and name not in _FUNCTIONS)
    if unknown:
        raise UsageError(
            f"the function {unknown[0]}() is not available here",
            hint="Numbers, comparisons, aggregates, windows and searches in text are.",
        )
    pieces = sum(functions[name] for name in _CONCATENATIONS)
    if pieces > (0 if recursive else MOST_CONCATENATIONS):
        where = " in a recursive WITH" if recursive else ""
        raise UsageError(
            f"text is put together {pieces} times{where}",
            hint=f"At most {MOST_CONCATENATIONS} times, and not in a recursive WITH: its size could double each time.",
        )


def _unknown_table(name: str, known: Collection[str]) -> UsageError:
    return UsageError(f"there is no table {name[:200]!r}", hint=f"The tables are {', '.join(sorted(known))}.")
