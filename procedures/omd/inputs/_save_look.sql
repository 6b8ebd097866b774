-- The look is made with the rights of the caller, who can name the tables; what it found is written
-- here. A text that has changed meanwhile is looked up again. A caller who can't name the tables of
-- a text does not make others forget what they are.

CREATE OR REPLACE FUNCTION omd._save_look(
    p_module_code text,
    p_text_hash text,
    p_tables text[],
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_look$
DECLARE
    v_module_id integer;
BEGIN
    SELECT m.module_id INTO v_module_id
    FROM omd.module AS m
    WHERE m.module_code = p_module_code
        AND m.module_kind_code = 'SQL'
        AND md5(m.executable) = p_text_hash
        AND NOT EXISTS (
            SELECT FROM omd.module_declaration AS d
            WHERE d.module_id = m.module_id AND d.upto_id IS NULL AND d.origin = 'HAND'
        );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF p_tables IS NULL THEN
        UPDATE omd.module_declaration AS d SET looked_datetime = clock_timestamp()
        WHERE d.module_id = v_module_id
            AND d.origin = 'CATALOGUE'
            AND d.upto_id IS NULL
            AND d.inputs IS NOT NULL
            AND d.text_hash = p_text_hash;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM omd.save_inputs(
        v_module_id,
        'CATALOGUE',
        CASE
            WHEN p_problem IS NULL
                THEN (
                    SELECT
                        coalesce(
                            jsonb_agg(
                                jsonb_build_object('table', t.table_code, 'kind', 'ALL')
                                ORDER BY t.table_code
                            ),
                            '[]'
                        )
                    FROM unnest(p_tables) AS t (table_code)
                )
        END,
        FALSE,
        p_text_hash
    );
    UPDATE omd.module_declaration AS d SET problem = p_problem, proposed = p_tables
    WHERE d.module_id = v_module_id
        AND d.origin = 'CATALOGUE'
        AND d.upto_id IS NULL
        AND (d.problem, d.proposed) IS DISTINCT FROM (p_problem, p_tables);
END
$save_look$;

COMMENT ON FUNCTION omd._save_look IS
'Writes what was found in the SQL of the Module p_module_code with the MD5 p_text_hash: it reads '
'p_tables; p_problem: why that may not be all. Locks: the Module, where something is new.';
GRANT EXECUTE ON FUNCTION omd._save_look TO omd_runner, omd_admin;
