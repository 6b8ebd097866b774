-- The functions of views refuse rows here.

CREATE OR REPLACE FUNCTION omd_facts._refuse(
    p_sqlstate text,
    p_entity_code text,
    p_key jsonb,
    p_more jsonb DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refuse$
BEGIN
    PERFORM omd.raise_error(
        p_sqlstate,
        jsonb_build_object('entity_code', p_entity_code, 'key', p_key)
        || coalesce(p_more, '{}'::jsonb)
    );
END
$refuse$;

COMMENT ON FUNCTION omd_facts._refuse IS
'Raises p_sqlstate about the row p_key of p_entity_code, with p_more for its texts. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._refuse FROM PUBLIC;
