-- Whoever looks must find what an erasure would: so it is one, taken back.

CREATE OR REPLACE FUNCTION omd_provenance.find_subject(
    p_interface_code text,
    p_entity_code text,
    p_keys jsonb
)
RETURNS TABLE (layer text, table_code text, row_count bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $find_subject$
DECLARE
    v_subject CONSTANT jsonb := omd_provenance._subject(p_interface_code, p_entity_code, p_keys);
BEGIN
    RETURN QUERY
    SELECT
        i.item ->> 'layer',
        i.item ->> 'table_code',
        sum((i.item ->> 'row_count')::bigint)::bigint
    FROM jsonb_array_elements(omd_provenance._try_erase(v_subject, FALSE, FALSE))
        WITH ORDINALITY AS i (item, n)
    WHERE i.item ->> 'layer' <> 'NOT_REACHED' AND (i.item ->> 'row_count')::bigint > 0
    GROUP BY i.item ->> 'layer', i.item ->> 'table_code'
    ORDER BY min(i.n);
END
$find_subject$;

COMMENT ON FUNCTION omd_provenance.find_subject IS
'Returns where keys of the entity p_entity_code of the interface p_interface_code are now: how '
'many rows of which table. p_keys: an array of keys, each {attribute: value}. No row: nowhere '
'that erase reaches. Errors: OM005: an argument is NULL; OM014: the isolation level is not read '
'committed; OM092: there is no such entity, or p_keys is no list of its keys; OM159: readers of '
'the facts are at work. Locks: those of erase, until it returns.';
GRANT EXECUTE ON FUNCTION omd_provenance.find_subject TO omd_admin;
