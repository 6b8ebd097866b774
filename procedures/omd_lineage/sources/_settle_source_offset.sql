-- What is read by the positions of a source has no other way of finding its offset.

CREATE OR REPLACE FUNCTION omd_lineage._settle_source_offset(
    p_given text,
    p_source_offset text,
    p_source_kind_code text,
    p_is_source boolean
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_source_offset$
DECLARE
    v_expected text;
BEGIN
    IF p_source_kind_code = 'FACTS' THEN
        v_expected := CASE
            WHEN p_given <> 'FACTS' THEN 'none: a view that an interface offers is of kind FACTS'
        END;
    ELSIF p_given = 'FACTS' THEN
        v_expected := 'another one: it is no view that an interface offers';
    ELSIF p_given = 'RUNS' AND p_source_kind_code IS DISTINCT FROM 'RUNS' THEN
        v_expected := 'another one: no Module writes it, or p_pos_column is not omd_insert_datetime';
    END IF;
    IF v_expected IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_source_offset', 'value', p_given, 'expected', v_expected
            )
        );
    END IF;
    RETURN CASE
        WHEN NOT p_is_source THEN coalesce(p_source_offset, 'PROBE')
        WHEN p_source_kind_code = 'FACTS' THEN 'FACTS'
        ELSE coalesce(p_source_offset, p_source_kind_code, 'PROBE')
    END;
END
$settle_source_offset$;

COMMENT ON FUNCTION omd_lineage._settle_source_offset IS
'Returns where the offset of a topic comes from: p_source_offset, or by default what its kind '
'p_source_kind_code says. p_given: what was asked for now. p_is_source: it depends on nothing. '
'Errors: OM013: what was asked for does not fit. Locks: none.';
