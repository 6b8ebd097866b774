"""Install, upgrade and remove the database side of OMD.

``sql/install.sql`` is the only list of what is installed, and of the order. psql runs it as it is;
this module reads it and does the same in one transaction, but only what is needed: it applies a
migration once, a repeatable file (routine, view, trigger, reference rows) whenever it has changed,
and the grants whenever any file has changed. What the roles of OMD may do is compared each time.
A transaction before it and one after it are there for the calls that execute meanwhile.
"""

from __future__ import annotations

from omd.programs.install.applying import install
from omd.programs.install.catalogue import Change
from omd.programs.install.dry_run import DryRun, dry_run
from omd.programs.install.manifest import (
    MANIFEST,
    ROLES,
    UNINSTALL,
    Entry,
    InstallError,
    Kind,
    product_version,
    read_manifest,
    sql_root,
)
from omd.programs.install.outside import plan_outside
from omd.programs.install.planning import (
    Action,
    Part,
    Step,
    installed_version,
    is_installed,
    needs_install,
    plan,
)
from omd.programs.install.progress import PROGRESS, progress
from omd.programs.install.removing import removal, uninstall
from omd.programs.install.rights import plan_rights
from omd.programs.install.running import pinned
from omd.programs.install.script import removal_script, script
from omd.programs.install.transactions import Statement, Transaction, transactions_of

__all__ = [
    "MANIFEST",
    "PROGRESS",
    "ROLES",
    "UNINSTALL",
    "Action",
    "Change",
    "DryRun",
    "Entry",
    "InstallError",
    "Kind",
    "Part",
    "Statement",
    "Step",
    "Transaction",
    "dry_run",
    "install",
    "installed_version",
    "is_installed",
    "needs_install",
    "pinned",
    "plan",
    "plan_outside",
    "plan_rights",
    "product_version",
    "progress",
    "read_manifest",
    "removal",
    "removal_script",
    "script",
    "sql_root",
    "transactions_of",
    "uninstall",
]
