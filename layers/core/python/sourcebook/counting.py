"""What a function that runs by the clock counts in CloudWatch."""

from __future__ import annotations

from aws_lambda_powertools.metrics import EphemeralMetrics


def count(**counts: float) -> None:
    """Count what has happened, by the names of the metrics; nothing is sent of what has not.

    A metric costs $0.30 a month and is charged for the hours in which it is sent, so that a deployment at
    rest pays for none (docs/cost.md). Alarms take what is missing for 0.
    """
    metrics = EphemeralMetrics()
    happened = {name: number for name, number in counts.items() if number}
    for name, number in happened.items():
        metrics.add_metric(name, "Count", number)
    if happened:
        metrics.flush_metrics()
