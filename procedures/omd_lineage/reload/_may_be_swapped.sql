-- Other objects refer to a table by its OID, which a swap changes. Each condition finds one kind of
-- object that would be lost; a reload then uses TRUNCATE instead.

CREATE OR REPLACE FUNCTION omd_lineage._may_be_swapped(
    p_table regclass
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        c.relkind = 'r'
        AND c.relpersistence = 'p'
        AND c.reltablespace = 0
        AND c.reloptions IS NULL
        AND c.relreplident = 'd'
        AND obj_description(c.oid, 'pg_class') IS NULL
        AND c.relacl IS NULL
        AND c.relowner = current_user::regrole::oid
        AND NOT c.relrowsecurity
        AND NOT EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = c.oid)
        AND NOT EXISTS (
            SELECT FROM pg_inherits AS h
            WHERE c.oid IN (h.inhrelid, h.inhparent)
        )
        AND NOT EXISTS (
            SELECT FROM pg_constraint AS k
            WHERE k.contype = 'f' AND c.oid IN (k.conrelid, k.confrelid)
        )
        AND NOT EXISTS (SELECT FROM pg_publication_rel AS p WHERE p.prrelid = c.oid)
        AND NOT EXISTS (
            SELECT FROM pg_depend AS d
            WHERE
                d.refclassid = 'pg_class'::regclass
                AND d.refobjid = c.oid
                AND d.deptype = 'n'
                AND d.classid IN ('pg_rewrite'::regclass, 'pg_proc'::regclass)
        )
        AND NOT EXISTS (
            SELECT FROM pg_depend AS d
            WHERE
                d.refclassid = 'pg_type'::regclass
                AND d.refobjid = c.reltype
                AND d.deptype = 'n'
        )
        AND NOT EXISTS (
            SELECT
            FROM pg_depend AS d
            INNER JOIN pg_class AS s ON d.objid = s.oid
            WHERE
                d.classid = 'pg_class'::regclass
                AND d.refclassid = 'pg_class'::regclass
                AND d.refobjid = c.oid
                AND s.relkind = 'S'
        )
        AND NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = c.oid AND (a.attacl IS NOT NULL OR a.attidentity <> '')
        )
    FROM pg_class AS c
    WHERE c.oid = p_table;
END;

COMMENT ON FUNCTION omd_lineage._may_be_swapped IS
'Returns whether the table p_table can be dropped, and another one renamed to it, without loss: '
'it is a plain table of the current user, and no view, function, foreign key, trigger, grant, '
'policy, publication or identity depends on it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._may_be_swapped TO omd_runner, omd_admin;
