"""Fetch the publications of a nova from ADS."""

from sourcebook.novae.messages import DateDiscovery, FetchReferences, StoreReferences
from statemachines import states as asl
from statemachines.shared import NOVA_ID, nova_workflow

_COUNTS = ("created", "updated", "unchanged", "quarantined")

_STEPS: asl.States = {
    "Fetch the references": asl.task(
        FetchReferences,
        {"nova_id": NOVA_ID},
        comment="All that ADS has under any of the nova's names, left in the bucket in chunks of 25.",
        seconds=310,
    ),
    "Store the references": asl.each(
        "$states.input.chunks",
        {
            "Store a chunk": asl.task(
                StoreReferences,
                {"nova_id": NOVA_ID, "key": "$states.input.key"},
                comment="Normalizes, writes and links the publications of one chunk.",
            )
        },
        comment="Five chunks at once. A publication that cannot be read is set aside and the others go on.",
        selector={"key": asl.MAP_ITEM},
        at_once=5,
        output={
            **asl.members("$states.input", "found truncated"),
            **{name: f"$sum([$states.result.{name}])" for name in _COUNTS},
        },
    ),
    "Date the discovery": asl.task(
        DateDiscovery,
        {"nova_id": NOVA_ID},
        comment="The earliest publication's month; the date only ever moves back.",
        ending=asl.succeeded("REFRESHED", f"$merge([$states.input, {asl.RESULT}])", nova_id=NOVA_ID),
    ),
}

WORKFLOW = nova_workflow(
    "refresh_references",
    "Brings a nova's publications up to date from ADS, and counts them.",
    ("REFRESHED",),
    _STEPS,
)
