"""The event bus, who listens to it, and the keys of the news APIs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sourcebook.articles.bus import SOURCE
from sourcebook.events import ArticlesNew, GenerateIdeas, GroupHeadlines

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

LISTENERS = {
    ArticlesNew.detail_type: "trigger_grouping",
    GroupHeadlines.detail_type: "group_headlines",
    GenerateIdeas.detail_type: "generate_ideas",
}


OF_EXECUTIONS = ["aws.states"]
"""What the ends of executions come from, on the account's own bus."""


def test_each_event_goes_by_a_queue_to_the_one_function_that_listens_to_it(aws: Assembly) -> None:
    queues = {
        mapping["EventSourceArn"]["Fn::GetAtt"][0]: mapping["FunctionName"]["Ref"]
        for mapping in aws.properties("AWS::Lambda::EventSourceMapping")
    }
    found = {}
    for rule in aws.properties("AWS::Events::Rule"):
        if "EventPattern" not in rule or rule["EventPattern"]["source"] == OF_EXECUTIONS:
            continue
        assert rule["EventPattern"]["source"] == [SOURCE]
        (detail_type,) = rule["EventPattern"]["detail-type"]
        (target,) = rule["Targets"]
        assert target["InputPath"] == "$.detail", "the queue gets the message and not its envelope"
        found[detail_type] = queues[target["Arn"]["Fn::GetAtt"][0]]
    assert found == {kind: aws.function_resource(name)[0] for kind, name in LISTENERS.items()}


def test_the_rules_listen_on_the_bus_that_gets_the_events(aws: Assembly) -> None:
    (bus,) = aws.resources("AWS::Events::EventBus")
    for rule in aws.properties("AWS::Events::Rule"):
        if "EventPattern" in rule and rule["EventPattern"]["source"] != OF_EXECUTIONS:
            assert rule["EventBusName"] == {"Ref": bus}
    for name in ("fetch_sources", "trigger_grouping", "group_headlines"):
        assert aws.function(name)["Environment"]["Variables"]["EVENT_BUS_NAME"] == {"Ref": bus}


def test_the_secrets_are_made_without_a_key(aws: Assembly) -> None:
    secrets = aws.properties("AWS::SecretsManager::Secret")
    assert {secret["Name"] for secret in secrets} >= {"sourcebook/tiingo", "sourcebook/finnhub"}
    for secret in secrets:
        assert json.loads(secret["SecretString"]) == {"api_key": ""}
