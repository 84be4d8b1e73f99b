"""The evaluation of policies that test_every_call.py relies on."""

from __future__ import annotations

import pytest

from tests.permissions.policies import Made, Statement, Templates, holds, is_allowed, like

ALLOW = Statement("Allow", ("s3:Get*",), ("<Bucket>/raw/*",), {})


def made(action: str = "s3:GetObject", resource: str = "<Bucket>/raw/a/b", **keys: list[str]) -> Made:
    return Made("some", action, resource, keys)


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("a/b", "a*", True),
        ("a/b", "a", False),
        ("ab", "a?", True),
        ("a", "a?", False),
        ("A", "a", False),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
        ("[a]", "[a]", True),
    ],
)
def test_patterns(value: str, pattern: str, *, expected: bool) -> None:
    assert like(value, pattern) == expected


def test_what_no_statement_allows_is_refused_and_a_denial_wins() -> None:
    assert is_allowed(made(), [ALLOW])
    assert is_allowed(made(action="S3:getobject"), [ALLOW])
    assert not is_allowed(made(action="s3:PutObject"), [ALLOW])
    assert not is_allowed(made(resource="<Bucket>/other"), [ALLOW])
    assert not is_allowed(made(), [])
    assert not is_allowed(made(), [ALLOW, Statement("Deny", ("s3:*",), ("*",), {})])


def test_every_partition_key_must_be_among_those_allowed() -> None:
    operator = "ForAllValues:StringLike"
    assert holds(operator, ["SOURCE#a", "SOURCE#b"], ["SOURCE#*"])
    assert not holds(operator, ["SOURCE#a", "TOKEN"], ["SOURCE#*"])
    assert holds(operator, None, ["SOURCE#*"])


def test_a_key_that_is_not_there_meets_no_condition() -> None:
    assert not holds("StringLike", None, ["a*"])
    assert holds("StringLike", ["ab"], ["a*"])
    assert not holds("StringEquals", ["ab"], ["a*"])
    with pytest.raises(NotImplementedError):
        holds("NumericLessThan", ["1"], ["2"])


def test_resources_have_the_names_of_the_template() -> None:
    data = {"Outputs": {"Out": {"Value": {"Fn::GetAtt": ["Table", "Arn"]}, "Export": {"Name": "Data:Out"}}}}
    templates = Templates(data, {"Resources": {}})
    assert (
        templates.named({"Fn::Join": ["", [{"Fn::ImportValue": "Data:Out"}, "/index/x"]]})
        == "<Table>/index/x"
    )
    assert templates.named({"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3"]]}) == "arn:aws:s3"
    assert templates.named({"Ref": "Topic"}) == "<Topic>"
    with pytest.raises(NotImplementedError):
        templates.named({"Fn::Sub": "x"})
