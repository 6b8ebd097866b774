-- Who reads by changes would get none.

CREATE OR REPLACE FUNCTION omd_facts._require_unread(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_unread$
DECLARE
    v_read record;
BEGIN
    SELECT e.entity_code, i.interface_code, r.module_code INTO v_read
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    INNER JOIN LATERAL omd.source_readers('facts.' || i.interface_code) AS r
        ON r.table_code IN (
            'gdal_' || i.interface_code || '.' || e.entity_code,
            'changes_' || i.interface_code || '.' || e.entity_code
        )
    WHERE e.interface_id = p_interface_id
        AND NOT e.keeps_changes
        AND e.changes_from IS NOT NULL
    ORDER BY e.entity_code, r.module_code
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM252',
            jsonb_build_object(
                'interface_code', v_read.interface_code,
                'object', v_read.entity_code,
                'problem', format('%s reads its changes', v_read.module_code)
            )
        );
    END IF;
END
$require_unread$;

COMMENT ON FUNCTION omd_facts._require_unread IS
'Raises OM252 where an entity of the interface p_interface_id is to keep its changes no longer, '
'and somebody reads them. Locks: none.';
