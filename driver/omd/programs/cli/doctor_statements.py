"""What `omd doctor` asks a database that has OMD.

Who executes these statements pins the path of their transaction.
"""

from collections.abc import Mapping, Sequence

# What the database knows: where all of it stands; a statement with check, severity, what is found
# and how to mend it; and of each check what is true where nothing is found.
ASKED: Sequence[tuple[str, str, Mapping[str, str]]] = (
    (
        "server_problems",
        "SELECT subject, severity, text, way_out FROM omd_report.server_problems",
        {
            "durability": "what is committed survives a crash",
            "server known": (
                "this is the server that the database knows; a snapshot of a disk that was restored"
                " looks like a restart: CALL omd.skip_ids() then"
            ),
            "replica identity": "each published table of a Module can be updated and deleted from",
            "upgrade": "nothing was left in the middle",
            "schemas": "omd_owner may create those of models",
            "statistics": "omd_owner sees since when other roles write",
            "who runs": "no powerful role, neither you nor in the last runs",
        },
    ),
    (
        "readiness",
        """SELECT 'readiness', severity, module_code || ': ' || problem, command
             FROM omd_report.readiness""",
        {"readiness": "a failure of any active Module can be undone"},
    ),
    (
        "problems",  # the call notes there what it finds
        """SELECT 'rows of dead runs', 'WARNING',
                  format('%s: Module Instance %s was declared dead, and %s rows of it are in its'
                         ' target: its process wrote on after its rollback', module_code,
                         module_instance_id, concat(row_count, CASE row_count WHEN 1000
                                                                   THEN ' or more' END)),
                  format('CALL omd.set_next_run_indicator(''R'', p_module_instance_id => %s);'
                         '  then start the Module', module_instance_id)
             FROM omd.find_left_rows()""",
        {"rows of dead runs": "none that this user can see in the targets of their Modules"},
    ),
    (
        "sources",
        """SELECT 'source', 'WARNING', source || ': ' || problem, 'omd report sources'
             FROM omd_report.sources WHERE problem IS NOT NULL""",
        {},
    ),
    (
        "event_sinks",
        """SELECT 'sink', severity, object_key || ': ' || text, 'omd report event_sinks'
             FROM omd_report.problems WHERE object_kind = 'SINK'""",
        {},
    ),
    (
        "openlineage_problems",
        """SELECT 'openlineage', 'WARNING', code || ': ' || problem, command
             FROM omd_report.openlineage_problems""",
        {},
    ),
    (
        "dispatch_sessions",
        """SELECT 'sessions', 'OK', format('%s workers with %s slots need %s of %s: four a worker,'
                  ' and one a slot', workers, slots, sessions, available), ''
             FROM omd_report.dispatch_sessions WHERE NOT is_too_many""",
        {},
    ),
    (
        "history",
        """SELECT 'history', 'OK',
                  CASE WHEN bool_and(is_purged)
                      THEN format('kept for %s, purged next at %s: ', min(keep), min(next_time))
                      ELSE format('kept for ever. With a keep of %s, ',
                                  coalesce(min(keep), interval '90 days'))
                  END || coalesce(
                      'a purge would delete at most ' || string_agg(
                          concat(old_rows, CASE old_rows WHEN 1000 THEN ' or more' END,
                                 ' of ', table_code,
                                 CASE WHEN NOT needs_keep THEN ' that nobody needs' END),
                          ', ' ORDER BY needs_keep DESC, table_code) FILTER (WHERE old_rows > 0),
                      'nothing is older'),
                  CASE WHEN NOT bool_and(is_purged) THEN min(command)
                      || ';  then, as a role with omd_admin: omd worker --group ADMIN'
                  END
             FROM omd_report.history""",
        {},
    ),
)

FIRST = """
SELECT r.*
  FROM (SELECT f.*,
               row_number() OVER (PARTITION BY f.checked ORDER BY f.severity, f.found) AS number,
               count(*) OVER (PARTITION BY f.checked)
          FROM ({}) AS f (checked, severity, found, mend)) AS r
 WHERE r.number <= {}
 ORDER BY r.checked, r.number
"""
