from dataclasses import fields

from xprof_nb import queries
from xprof_nb.runs.writing import WRITTEN_BY, changes


def test_a_question_changes_a_run_where_the_parameter_that_does_is_given():
    assert changes("trace_marks", {"markers": []})
    assert not changes("trace_marks", {"markers": None})
    assert not changes("trace_marks", {})
    assert not changes("ops", {"markers": [], "": 1})


def test_the_parameters_are_those_of_registered_questions():
    for name, parameter in WRITTEN_BY.items():
        assert parameter in {field.name for field in fields(queries.REGISTER[name].params)}
