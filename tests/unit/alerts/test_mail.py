"""Addresses that are asked whether they want mails."""

from __future__ import annotations

import boto3
import pytest
from botocore.stub import Stubber

from sourcebook.alerts.mail import Mailer
from sourcebook.errors import InvalidInput


@pytest.mark.parametrize(
    "code", ["FilterPolicyLimitExceeded", "InvalidParameter", "SubscriptionLimitExceeded"]
)
def test_an_address_that_sns_does_not_take_is_the_callers_to_change(code: str) -> None:
    sns = boto3.client("sns", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(sns) as stubber:
        stubber.add_client_error("subscribe", code, "why not")
        with pytest.raises(InvalidInput, match=r"^mail: 'a@b.example' .*\(why not\), or a webhook"):
            Mailer(sns, "arn:aws:sns:us-east-1:1:mails").subscribe("a@b.example")
