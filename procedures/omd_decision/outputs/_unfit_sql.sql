-- To look at the types of an answer costs little, so it is done for all calls; which one does not
-- fit is looked for only then.

CREATE OR REPLACE FUNCTION omd_decision._unfit_sql(
    p_definition jsonb
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        'jsonb_typeof(c.result) IS DISTINCT FROM ''object'' OR '
        || string_agg(
            format(
                'jsonb_typeof(c.result -> %L) NOT IN (''object'', ''array'', ''null'')',
                o.item ->> 'parameter'
            ),
            ' OR '
        )
    FROM omd.json_items(p_definition -> 'outputs') AS o;
END;

COMMENT ON FUNCTION omd_decision._unfit_sql IS
'Returns an SQL condition on a call c: its answer is no object, or what it gives to an output of '
'the stage document p_definition has the wrong type. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._unfit_sql TO omd_runner;
