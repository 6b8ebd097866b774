-- This is the only place where OMD raises an error. {key} stands for a value of p_detail,
-- {key_literal} for the value as an SQL literal, for commands to copy. NULL and an empty list read
-- "none". What may have been meant comes first.

CREATE OR REPLACE FUNCTION omd.raise_error(
    p_sqlstate text,
    p_detail jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_error$
DECLARE
    v_error omd.error_catalogue;
    v_values jsonb;
    v_literals jsonb;
BEGIN
    SELECT * INTO v_error FROM omd.error_catalogue AS e WHERE e.sqlstate_code = p_sqlstate;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'OM902',
            MESSAGE = format('error %s is not in the catalogue', p_sqlstate),
            DETAIL = p_detail::text,
            HINT = 'Run omd install, or psql -f sql/install.sql.';
    END IF;

    SELECT
        jsonb_object_agg(d.key, coalesce(nullif(d.value, '[]'), 'none')),
        jsonb_object_agg(d.key || '_literal', quote_nullable(d.value))
    INTO v_values, v_literals
    FROM jsonb_each_text(p_detail) AS d;

    RAISE EXCEPTION USING
        ERRCODE = p_sqlstate,
        MESSAGE = omd._render(v_error.message_template, v_values),
        DETAIL = p_detail::text,
        HINT = concat_ws(
            ' ',
            'Did you mean ' || (p_detail ->> 'did_you_mean') || '?',
            omd._render(v_error.hint_template, v_values || v_literals)
        );
END
$raise_error$;

COMMENT ON FUNCTION omd.raise_error IS
'For the driver: '
'Raises the error p_sqlstate of omd.error_catalogue. p_detail (a JSON object) fills '
'its message and hint and becomes the DETAIL. No locks.';
GRANT EXECUTE ON FUNCTION omd.raise_error TO omd_reader, omd_runner, omd_admin, omd_data_reader;
