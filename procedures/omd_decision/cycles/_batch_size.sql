-- Records can only be given to a parameter one by one when one record is read at a time.

CREATE OR REPLACE FUNCTION omd_decision._batch_size(
    p_definition jsonb
)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                EXISTS (
                    SELECT FROM omd.json_items(p_definition -> 'links') AS l
                    WHERE
                        l.item -> 'array' = 'false'
                        AND l.item -> 'buffer' = 'false'
                        AND (p_definition ->> 'mode' = 'BATCH' OR l.ordinal = 1)
                )
                THEN 1
            ELSE (p_definition ->> 'batch_size')::bigint
        END;
END;

COMMENT ON FUNCTION omd_decision._batch_size IS
'Returns the batch size that a run of the stage document p_definition uses: 1 where a link that '
'is no array forces it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._batch_size TO omd_reader, omd_runner;
