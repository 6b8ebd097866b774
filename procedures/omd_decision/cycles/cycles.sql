-- The planner puts this in the query that calls it, so the rows are stored once. What buffer
-- links give is added last, from a table of hashes: the numbers of rows that the functions
-- promise lead the planner to it, so the order of the cycles stays.

CREATE OR REPLACE FUNCTION omd_decision.cycles(
    p_stage_code text,
    p_wave text DEFAULT NULL,
    p_end_value timestamptz DEFAULT NULL
)
RETURNS TABLE (
    wave text,
    key jsonb,
    cycle_no bigint,
    invocation_no bigint,
    link text,
    arrival bigint,
    code text,
    cause_link text,
    inputs jsonb,
    params jsonb
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    WITH preview AS MATERIALIZED (
        SELECT p.*
        FROM omd_decision._preview(p_stage_code, p_end_value) AS p
    ),

    buffer AS MATERIALIZED (
        SELECT b.*
        FROM preview AS p
        CROSS JOIN LATERAL omd_decision._buffers(
            p.definition, p_wave, p.start_value, p.end_value
        ) AS b
    )

    SELECT
        c.wave,
        c.key,
        c.cycle_no,
        c.invocation_no,
        c.link,
        c.arrival,
        c.code,
        c.cause_link,
        c.inputs,
        CASE WHEN b.params IS NULL THEN c.params ELSE c.params || b.params END AS params
    FROM preview AS p
    CROSS JOIN LATERAL omd_decision._cycles(p.definition, p_wave, p.start_value, p.end_value) AS c
    LEFT JOIN buffer AS b ON b.wave_key = coalesce('1' || c.wave, '0') AND c.link IS NULL
    WHERE c.link IS NOT NULL OR c.cycle_no IS NOT NULL;
END;

COMMENT ON FUNCTION omd_decision.cycles IS
'Returns what a run of the stage p_stage_code would call the ruleset with, and what it would '
'reject, as one snapshot shows it. p_wave: only this wave, as text; NULL: all. p_end_value: up to '
'where a stage with a window reads; NULL: as a run would now. Rows: a call has link and code '
'NULL, inputs, the arrival numbers by parameter (a number, or a list of an array; no buffer '
'links), and params, the records by parameter. A reject has link, arrival, code (LEFTOVER or '
'KEY_MISMATCH) and its record in params; of a failed attempt also cycle_no and cause_link, the '
'first link without a match. Codes that a link forbids raise nothing here. Errors: OM005: '
'p_stage_code is NULL; OM010: the end lies before the start; OM013; OM080: there is no such '
'stage; OM285: a buffer link that is no array is empty; OM289: a source lacks something, or a '
'NULL arrival; OM290: a double arrival; OM291: an array has too many records. Locks: ACCESS SHARE '
'on the sources. May be NULL: wave, key, cycle_no, invocation_no, link, arrival, code, '
'cause_link, inputs, params.';
GRANT EXECUTE ON FUNCTION omd_decision.cycles TO omd_reader;
