"""The statuses of a delivery that this client knows: no other one means that it may go on."""

OPEN = frozenset({"RECEIVED", "LOADED", "VALIDATED"})
ENDED = frozenset(
    {
        "ACCEPTED",
        "PERSISTED",
        "PERSISTED WITH VIOLATED CONSTRAINTS",
        "REFUSED",
        "REJECTED",
        "CANCELLED",
        "CHECKED",
        "REVERTED",
    }
)
# What is decided by the run of the delivery.
DECIDED = ENDED - {"REJECTED", "CANCELLED"} | {"VALIDATED"}
# What is good of a folder that was just delivered.
GOOD = (OPEN | ENDED) - {"REFUSED", "REJECTED"}
