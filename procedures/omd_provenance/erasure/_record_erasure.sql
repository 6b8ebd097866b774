-- No key is in it.

CREATE OR REPLACE FUNCTION omd_provenance._record_erasure(
    p_subject jsonb,
    p_reference text,
    p_items jsonb
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_erasure$
DECLARE
    v_erasure_id bigint;
BEGIN
    INSERT INTO omd_provenance.erasure (
        interface_code, entity_code, key_count, reference, erased_by, erasure_status
    )
    VALUES (
        p_subject ->> 'interface',
        p_subject ->> 'entity',
        jsonb_array_length(p_subject -> 'keys'),
        p_reference,
        omd.editor(),
        CASE WHEN p_items @> '[{"outcome": "PENDING"}]' THEN 'PENDING' ELSE 'DONE' END
    )
    RETURNING erasure_id INTO v_erasure_id;
    INSERT INTO omd_provenance.erasure_item (
        erasure_id, position, layer, table_code, outcome, key_count, row_count, text
    )
    SELECT
        v_erasure_id,
        i.n,
        i.item ->> 'layer',
        i.item ->> 'table_code',
        i.item ->> 'outcome',
        (i.item ->> 'key_count')::bigint,
        (i.item ->> 'row_count')::bigint,
        i.item ->> 'text'
    FROM jsonb_array_elements(p_items) WITH ORDINALITY AS i (item, n);
    -- Of others who erase now nothing is seen that has no erasure yet.
    UPDATE omd_provenance.pending_erasure AS p SET erasure_id = v_erasure_id
    WHERE p.erasure_id IS NULL;
    RETURN v_erasure_id;
END
$record_erasure$;

COMMENT ON FUNCTION omd_provenance._record_erasure IS
'Writes the proof that p_subject was erased for p_reference, with p_items, and returns its number. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._record_erasure TO omd_admin;
