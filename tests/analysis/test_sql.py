"""SQL over everything in a profile: right numbers, every table as documented, and nothing else within reach."""

from __future__ import annotations

import json
import math
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xprof_nb as xp
from tests.xspace_builder import PS_PER_MS, SpaceBuilder
from xprof_nb.analysis.sql import tables as sql_tables
from xprof_nb.analysis.sql.schema import columns, tables
from xprof_nb.errors import ProfileError, UsageError

MS = PS_PER_MS


@pytest.fixture(scope="module")
def psum(corpus: Path) -> xp.Profile:
    return xp.open(corpus / "tpu-v6e-psum")


def two_hosts(folder: Path) -> xp.Profile:
    """Open two hosts with devices of one name, on which ops of 1 and 2 ms ran."""
    for number, host in enumerate(("host0", "host1"), 1):
        space = SpaceBuilder(host)
        core = space.plane("/device:TPU:0", {"device_type_string": "TPU v5 lite"})
        stats = {"program_id": 2**63 + 7, "symbol_id": 1, "hlo_category": "loop fusion"}
        core.metadata("%z.1 = f32[] fusion()", stats, display_name="z.1")
        core.metadata("%a.1 = f32[] fusion()", stats, display_name="a.1")
        line = core.line("XLA Ops")
        line.event("%z.1 = f32[] fusion()", 0, number * MS).event("%a.1 = f32[] fusion()", 5 * MS, number * MS)
        space.plane("/host:CPU").line("main/1").aggregated("summed", 3, MS)
        space.write(folder)
    return xp.open(folder)


def test_the_schema_describes_every_column():
    schema = xp.sql_schema()
    assert schema.columns.tolist() == ["table", "column", "type", "unit", "meaning"]
    assert not schema.duplicated(["table", "column"]).any()
    assert (schema["meaning"].str.len() > 4).all()
    assert set(schema["type"]) <= {"text", "whole", "unsigned", "number", "truth"}
    wanted = {"events", "ops", "op_events", "steps", "runs", "instructions", "buffers", "allocations", "kernels"}
    assert set(schema["table"]) == {*wanted, "devices", "programs"}
    units = schema.set_index(["table", "column"])["unit"]
    assert units["ops", "flops_per_s"] == "FLOP/s"
    assert units["ops", "bytes_per_s"] == "B/s"
    assert units["events", "start_ps"] == "ps"
    assert units["ops", "hbm_bytes"] == "B"


def test_without_text_it_is_the_schema(psum):
    result = psum.sql()
    assert result.query == "sql"
    pd.testing.assert_frame_equal(result.frame, xp.sql_schema())


@pytest.mark.parametrize("table", tables())
def test_every_table_has_the_columns_and_types_of_the_schema(psum, table):
    if table in ("buffers", "allocations", "kernels"):
        pytest.importorskip(f"xprof_nb.analysis.{ {'allocations': 'memory'}.get(table, table) }")
    frame = psum.sql(f"SELECT * FROM {table}").frame
    assert frame.columns.tolist() == [column.name for column in columns(table)]
    kinds = {"text": "O", "whole": "i", "unsigned": "u", "number": "f", "truth": "b"}
    for column in columns(table):
        known = frame[column.name].dropna()
        assert not len(known) or known.dtype.kind in kinds[column.type], column


def test_tables_hold_what_the_questions_answer(psum):
    ops = psum.ops().frame
    mine = psum.sql("SELECT device, op, program_id, self_time_ps, flops FROM ops ORDER BY ALL").frame
    theirs = ops[["device", "op", "program_id", "self_time_ps", "flops"]]
    theirs = theirs.sort_values(["device", "op", "program_id", "self_time_ps"], ignore_index=True)
    assert mine["op"].tolist() == theirs["op"].tolist()
    np.testing.assert_allclose(mine["self_time_ps"], theirs["self_time_ps"])
    np.testing.assert_allclose(mine["flops"], theirs["flops"])
    summed = psum.sql("SELECT device, op, sum(self_time_ps) AS t FROM op_events GROUP BY ALL").frame
    by_op = ops.groupby(["device", "op"])["self_time_ps"].sum()
    np.testing.assert_allclose(summed.set_index(["device", "op"])["t"].sort_index(), by_op.sort_index())
    assert psum.sql("SELECT count(*) AS n FROM events").frame["n"].tolist() == [26723]
    assert len(psum.sql("SELECT * FROM steps").frame) == len(psum.steps().frame)
    assert psum.sql("SELECT sum(instruction_count)::BIGINT AS n FROM programs").frame["n"].tolist() == [
        sum(len(program.instructions) for program in psum.programs.values())
    ]


def test_all_hosts_in_one_table_and_joined_with_others(tmp_path):
    profile = two_hosts(tmp_path)
    frame = profile.sql("SELECT host, sum(time_ps)::BIGINT AS t FROM ops GROUP BY host ORDER BY host").frame
    assert frame.to_numpy().tolist() == [["host0", 2 * MS], ["host1", 4 * MS]]
    joined = profile.sql(
        "WITH slow AS (SELECT * FROM op_events WHERE duration_ps > 1e9) "
        "SELECT e.host, d.model, count(*) AS n FROM slow e JOIN devices d USING (host, device) GROUP BY ALL"
    ).frame
    assert joined.to_numpy().tolist() == [["host1", "TPU v5 lite", 2]]
    assert profile.sql("SELECT DISTINCT program_id FROM ops").frame["program_id"].tolist() == [2**63 + 7]
    names = profile.sql("SELECT op FROM op_events ORDER BY op").frame["op"].tolist()
    assert names == ["a.1", "a.1", "z.1", "z.1"]  # by letters, though the other came first
    assert profile.sql("SELECT min(op) AS m FROM op_events").frame["m"].tolist() == ["a.1"]


def test_filters_narrow_the_tables(tmp_path):
    profile = two_hosts(tmp_path)
    assert profile.sql("SELECT count(*) AS n FROM op_events", host="host1").frame["n"].tolist() == [2]
    assert profile.sql("SELECT count(*) AS n FROM events", window_ps=(4 * MS, 6 * MS)).frame["n"].tolist() == [2]
    with pytest.raises(UsageError, match="no host 'host9'"):
        profile.sql("SELECT 1", host="host9")


def test_missing_is_null_and_an_aggregated_event_has_no_start(tmp_path):
    profile = two_hosts(tmp_path)
    frame = profile.sql("SELECT name, start_ps, occurrences FROM events WHERE start_ps IS NULL").frame
    assert frame["occurrences"].tolist() == [3, 3]
    assert frame["start_ps"].isna().all()
    assert profile.sql("SELECT count(flops) AS n FROM ops").frame["n"].tolist() == [0]


def test_any_result_is_plain_and_bounded(psum):
    text = "[1, 2] AS l, {'a': 1} AS s, DATE '2026-01-01' AS d, NULL AS n, 'x' AS t, 1.5::DECIMAL(4,2) AS f, 1/0. AS i"
    result = psum.sql(f"SELECT {text}")
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.frame["t"].tolist() == ["x"]
    assert result.frame["f"].tolist() == [1.5]
    assert math.isnan(result.frame["i"].iloc[0])
    cut = psum.sql("SELECT name FROM events ORDER BY start_ps", limit=10)
    assert len(cut.frame) == 10
    assert any("first 10 rows" in note for note in cut.notes)


def test_an_empty_answer_says_why(psum, tmp_path):
    result = psum.sql("SELECT * FROM ops WHERE op = 'no such op'")
    assert (len(result.frame), result.notes[-1]) == (0, "No row meets the conditions.")
    space = SpaceBuilder()
    space.plane("/host:CPU").line("main/1").event("x", 0, 1)
    result = xp.open(space.write(tmp_path)).sql("SELECT * FROM ops")
    assert "nothing in ops" in result.notes[-1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("selec 1", "syntax error"),
        ("SELECT nope FROM ops", "nope"),
        ("SELECT * FROM nothing", "no table 'nothing'.*events.*ops"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("SELECT sum(op) FROM ops", "sum"),
        ("SELECT", "SELECT"),
        ("SELECT '" + "x" * 30_000 + "'", "characters"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "read|wrong|deep|answered"),
        ("SELECT \ud800", "read"),
        ("SELECT 1 \0", "NUL"),
    ],
)
def test_a_mistake_is_told_with_its_cure(psum, text, says):
    with pytest.raises(UsageError, match=f"(?s){says}"):
        psum.sql(text)


FORBIDDEN = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM parquet_scan('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM 'https://example.org/x.parquet'",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM query_table('/etc/passwd')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT current_setting('memory_limit')",
    "SELECT getenv('HOME')",
    "COPY ops TO '/tmp/stolen.csv'",
    "COPY (SELECT 1) TO '/tmp/stolen.csv'",
    "EXPORT DATABASE '/tmp/stolen'",
    "ATTACH '/tmp/other.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '100GB'",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW ops",
    "INSERT INTO ops VALUES (1)",
    "UPDATE ops SET op = ''",
    "DELETE FROM ops",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE SELECT 1",
    "DESCRIBE ops",
    "CHECKPOINT",
    "VACUUM",
    "BEGIN TRANSACTION",
    "PREPARE p AS SELECT 1",
    "USE memory",
    "SELECT 1; COPY ops TO '/tmp/stolen.csv'",
]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_nothing_outside_the_tables_is_in_reach(psum, text):
    with pytest.raises(UsageError):
        psum.sql(text)
    assert not Path("/tmp/stolen.csv").exists()
    assert not Path("/tmp/stolen").exists()


def test_duckdb_itself_is_locked_up(psum, monkeypatch):
    """The second lock holds without the first."""
    from xprof_nb.analysis.sql import select as sql

    monkeypatch.setattr(sql, "tables_in", lambda text, known: set())
    for text in FORBIDDEN[:12]:
        with pytest.raises(ProfileError, match=r"disabled by configuration|does not exist"):
            psum.sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT repeat('x', 4000000000)",
        "SELECT lpad('x', 2000000000, 'y')",
        "SELECT list_sum(range(2000000000))",
        "SELECT format('{:2000000000}', 1)",
        "SELECT printf('%2000000000d', 1)",
        "SELECT replace(repeat('a', 100000), 'a', 'b')",
        "WITH RECURSIVE r AS (SELECT 'ab' AS x UNION ALL SELECT x || x FROM r) SELECT length(x) FROM r",
        "SELECT " + " || ".join(["op"] * 20) + " FROM ops",
    ],
)
def test_a_value_cannot_outgrow_the_memory(psum, text):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UsageError):
        psum.sql(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_query_ends_at_its_time_and_the_process_goes_on(psum):
    began = time.monotonic()
    with pytest.raises(ProfileError, match=r"longer than 1 s.*WHERE"):
        psum.sql(
            "SELECT count(*) FROM events a, events b, events c WHERE a.start_ps + b.start_ps = -c.start_ps - 1",
            seconds=1,
        )
    assert time.monotonic() - began < 20
    with pytest.raises(ProfileError, match="longer than 1 s"):
        psum.sql("WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r", seconds=1)
    assert psum.sql("SELECT 42 AS answer").frame["answer"].tolist() == [42]


def test_a_query_ends_at_its_memory(psum):
    with pytest.raises(ProfileError, match="more than 1 GiB"):
        psum.sql("SELECT list(a.name) FROM events a, events b")
    assert psum.sql("SELECT 42 AS answer").frame["answer"].tolist() == [42]


def test_only_what_is_mentioned_is_made(psum, monkeypatch):
    made = []
    original = sql_tables._BUILDERS["events"]
    monkeypatch.setitem(sql_tables._BUILDERS, "events", lambda *a: made.append("events") or original(*a))
    monkeypatch.setitem(sql_tables._BUILDERS, "steps", lambda *a: made.append("steps") or [])
    psum.sql("SELECT count(*) FROM ops")
    assert made == []
    psum.sql("WITH e AS (SELECT * FROM Events) SELECT count(*) FROM e")
    assert made == ["events"]


def test_columns_are_read_where_they_lie(tmp_path):
    profile = two_hosts(tmp_path)
    trace = profile.data.hosts[0]
    (part, _) = sql_tables.parts_of("op_events", profile.data, sql_tables.Selection())
    for column in ("start_ps", "duration_ps"):
        assert np.shares_memory(part[column].to_numpy(), getattr(trace.ops, column))


def test_hostile_names_stay_text(tmp_path):
    space = SpaceBuilder()
    line = space.plane("/host:CPU").line("main/1")
    names = ["'; DROP VIEW ops; --", '"quoted"', "<script>", "ünï", "\u202e"]
    for number, name in enumerate(names):
        line.event(name, number, 1)
    frame = xp.open(space.write(tmp_path)).sql("SELECT name FROM events ORDER BY start_ps").frame
    assert frame["name"].tolist() == names


def test_a_cpu_profile_answers_too(cpu_profile):
    profile = xp.open(cpu_profile)
    frame = profile.sql(
        "SELECT r.program, count(*) AS n, median(r.duration_ps) AS typical_ps FROM runs r GROUP BY ALL ORDER BY n DESC"
    ).frame
    assert frame["n"].iloc[0] >= 2
    ops = profile.sql(
        "SELECT i.opcode, sum(o.self_time_ps) AS t FROM ops o JOIN instructions i "
        "ON i.program_id = o.program_id AND i.name = o.op GROUP BY ALL"
    ).frame
    assert ops["t"].sum() == pytest.approx(profile.ops().frame["self_time_ps"].sum())
