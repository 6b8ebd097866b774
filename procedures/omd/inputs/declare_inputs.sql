-- What a person declares holds instead of what the catalogue says.

CREATE OR REPLACE PROCEDURE omd.declare_inputs(
    p_module_code text,
    p_tables text[]
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $declare_inputs$
DECLARE
    v_module_id integer;
    v_table text;
BEGIN
    p_tables := omd.require_argument('p_tables', p_tables);
    p_module_code := omd.require_argument('p_module_code', p_module_code);
    PERFORM omd.require_read_committed();
    v_module_id := omd._require_module(p_module_code);
    FOR v_table IN SELECT t.table_code FROM unnest(p_tables) AS t (table_code) LOOP
        -- What a Module will make is not there before its first run.
        IF v_table IS NULL
            OR omd.spell_table(v_table) IS NULL
            OR NOT (
                omd.is_readable(v_table)
                OR EXISTS (
                    SELECT FROM omd.module AS m WHERE m.table_code = omd.spell_table(v_table)
                )
            )
        THEN
            PERFORM omd.raise_error(
                'OM293',
                jsonb_build_object(
                    'module_code', p_module_code,
                    'module_code_literal', quote_literal(p_module_code),
                    'table_code', v_table,
                    'problem', coalesce(format('%s is not there', v_table), 'a table is NULL')
                )
            );
        END IF;
    END LOOP;
    PERFORM omd.save_inputs(
        v_module_id,
        'HAND',
        (
            SELECT
                coalesce(
                    jsonb_agg(
                        jsonb_build_object('table', t.table_code, 'kind', 'ALL')
                        ORDER BY t.table_code
                    ),
                    '[]'
                )
            FROM (
                SELECT DISTINCT omd.spell_table(g.table_code) AS table_code
                FROM unnest(p_tables) AS g (table_code)
            ) AS t
        )
    );
END
$declare_inputs$;

COMMENT ON PROCEDURE omd.declare_inputs IS
'Declares what the runs of a Module read from now on, instead of what the catalogue knows of its '
'SQL; former declarations count for the runs under them. p_module_code: the Module. p_tables: '
'tables and views, schema.name, tables of the lake, and targets of Modules that are not there yet; '
'an empty array: it reads nothing that Modules write. Errors: OM002: there is no such Module; '
'OM005: an argument is NULL; OM014: the isolation level is not read committed; OM293: a table is '
'not there, and no Module makes it. Locks: the Module. See docs/explanation/provenance.md. Call '
'again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.declare_inputs TO omd_admin;
