-- Only files can be read again; and files from before an erasure may name who was erased.

CREATE OR REPLACE FUNCTION omd_delivery._hand_reason(
    p_delivery_id bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hand_reason$
DECLARE
    v_unknown text;
    v_erased text;
BEGIN
    SELECT
        string_agg(e.entity_code, ', ' ORDER BY e.ordinal) FILTER (
            WHERE NOT e.is_derived AND NOT EXISTS (
                SELECT FROM omd_delivery.delivery_file AS f
                WHERE f.delivery_id = de.delivery_id AND f.entity_id = de.entity_id
            )
        ),
        string_agg(e.entity_code, ', ' ORDER BY e.ordinal) FILTER (
            WHERE e.erased_datetime > d.created_datetime
        )
    INTO v_unknown, v_erased
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.delivery_entity AS de USING (delivery_id)
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE d.delivery_id = p_delivery_id;
    RETURN CASE
        WHEN v_erased IS NOT NULL
            THEN format('somebody was erased from %s since it was delivered', v_erased)
        WHEN v_unknown IS NOT NULL THEN format('no files are recorded of %s', v_unknown)
    END;
END
$hand_reason$;

COMMENT ON FUNCTION omd_delivery._hand_reason IS
'Returns why the delivery p_delivery_id can''t be delivered again from its files; NULL: it can. '
'Locks: none.';
