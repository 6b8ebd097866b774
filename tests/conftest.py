"""The shared fixtures are plugins in tests/support; a folder's conftest.py has only its own."""

pytest_plugins = [
    "support.costs",
    "support.tiers",
    "support.results",
    "support.rotation",
    "support.user_code",
    "support.server",
    "support.crashes",
    "support.database",
    "support.flow",
    "support.scenes",
    "support.scene",
    "support.driver",
    "support.traps",
    "support.wire",
    "support.pooler",
    "support.programs",
    "support.wheel",
    "support.lots",
    "support.environments",
    "support.browser",
]
