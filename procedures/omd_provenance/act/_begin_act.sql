-- The run that undoes says in its own context for which recall.

CREATE OR REPLACE FUNCTION omd_provenance._begin_act(
    p_recall_id bigint,
    p_items jsonb
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_act$
BEGIN
    RETURN omd.begin_recall(
        'provenance.recall',
        ARRAY(
            SELECT i.module_instance_id
            FROM jsonb_populate_recordset(NULL::omd_provenance.recall_item, p_items) AS i
            WHERE i.module_instance_id IS NOT NULL AND i.action NOT IN ('OUTSIDE', 'UNKNOWN')
        ),
        jsonb_build_object('recall_id', p_recall_id)
    );
END
$begin_act$;

COMMENT ON FUNCTION omd_provenance._begin_act IS
'Begins the run of the recall p_recall_id that undoes the runs of p_items, and returns its id. '
'Locks: the row of its Module.';
GRANT EXECUTE ON FUNCTION omd_provenance._begin_act TO omd_admin;
