-- An undo takes the traveling now back, and a slice of an earlier time does not move it; both have
-- a newer load, or undoing of one, than the last export knew. Changes by hand move the traveling
-- now.

CREATE OR REPLACE FUNCTION omd_facts._export_is_due(
    p_interface_id integer,
    p_as_of timestamptz,
    p_newest_instance_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            bool_or(
                i.traveling_now IS DISTINCT FROM p_as_of
                OR l.newest_instance_id > coalesce(p_newest_instance_id, 0)
                OR u.newest_instance_id > coalesce(p_newest_instance_id, 0)
            ),
            FALSE
        )
    FROM omd_facts.interface AS i
    CROSS JOIN
        LATERAL (
            SELECT max(g.module_instance_id) AS newest_instance_id
            FROM omd_facts.load_log AS g
            WHERE g.interface_id = i.interface_id
        ) AS l
    CROSS JOIN
        LATERAL (
            SELECT max(g.undone_by) AS newest_instance_id
            FROM omd_facts.load_log AS g
            WHERE g.interface_id = i.interface_id
        ) AS u
    WHERE i.interface_id = p_interface_id AND i.traveling_now IS NOT NULL;
END;

COMMENT ON FUNCTION omd_facts._export_is_due IS
'Returns whether the facts of the interface p_interface_id have changed since an export as of '
'p_as_of, before which p_newest_instance_id was the newest load or undoing (NULL: there was no '
'export, or no load). Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts._export_is_due TO omd_reader;
