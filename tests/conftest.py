"""The shared fixtures are plugins in tests/support; a folder's conftest.py has only its own."""

pytest_plugins = [
    "support.server",
    "support.crashes",
    "support.user_code",
    "support.database",
    "support.flow",
    "support.scene",
    "support.driver",
    "support.traps",
    "support.wire",
    "support.pooler",
    "support.programs",
    "support.wheel",
    "support.environments",
    "support.browser",
]
