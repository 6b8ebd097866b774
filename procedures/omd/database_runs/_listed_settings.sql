-- The function sets no search_path, since it would then see its own; so every name, type and
-- operator is qualified. To list all settings takes as long as a small run. It is PL/pgSQL, which
-- keeps its plan.

CREATE OR REPLACE FUNCTION omd._listed_settings()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
AS $listed_settings$
DECLARE
    v_settings pg_catalog.jsonb;
BEGIN
    SELECT pg_catalog.jsonb_object_agg(v.name, v.setting) INTO v_settings
    FROM pg_catalog.pg_show_all_settings() AS v
    WHERE v.source OPERATOR(pg_catalog.=) 'session'
        AND NOT pg_catalog.starts_with(v.name, 'transaction_');
    RETURN coalesce(v_settings, '{}'::pg_catalog.jsonb);
END
$listed_settings$;

COMMENT ON FUNCTION omd._listed_settings IS
'Returns the settings of this session that differ from its start, as a JSON object of name and '
'value. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._listed_settings TO omd_runner;
