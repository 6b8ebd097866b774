-- The log of process control is the last, since edits of other tables are written into it. A reason
-- of a recall is a text of a person like any other.

CREATE OR REPLACE FUNCTION omd_provenance._erase_texts(
    p_texts text[]
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_texts$
DECLARE
    v_routine text;
    v_masked jsonb;
    v_items jsonb := '[]'::jsonb;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd_provenance._mask_texts', 'omd_delivery.erase_texts', 'omd_decision.erase_texts',
        'omd_lineage.erase_texts', 'omd_dispatch.erase_texts', 'omd.erase_texts'
    ] LOOP
        EXECUTE format(
            'SELECT jsonb_agg(jsonb_build_object(''layer'', ''TEXT'', ''table_code'', e.table_code,'
            ' ''outcome'', ''MASKED'', ''key_count'', NULL, ''row_count'', e.row_count,'
            ' ''text'', NULL) ORDER BY e.table_code) FROM %s($1) AS e WHERE e.row_count > 0',
            v_routine
        ) INTO v_masked USING p_texts;
        v_items := v_items || coalesce(v_masked, '[]');
    END LOOP;
    RETURN v_items;
END
$erase_texts$;

COMMENT ON FUNCTION omd_provenance._erase_texts IS
'Masks p_texts wherever the rooms keep what people and errors have said, and returns the items. '
'Locks: the rows.';
REVOKE ALL ON FUNCTION omd_provenance._erase_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._erase_texts TO omd_admin;
