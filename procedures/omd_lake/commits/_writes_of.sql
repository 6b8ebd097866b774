-- The shape has been checked, so the casts succeed.

CREATE OR REPLACE FUNCTION omd_lake._writes_of(
    p_commits jsonb
)
RETURNS TABLE (
    table_code text,
    write_number bigint,
    row_count bigint
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        omd.spell_table(c.item ->> 'table') AS table_code,
        omd_lake._whole_number(w.item -> 'write_number') AS write_number,
        omd_lake._whole_number(w.item -> 'rows') AS row_count
    FROM jsonb_array_elements(p_commits) AS c (item)
    CROSS JOIN
        LATERAL jsonb_array_elements(
            coalesce(nullif(c.item -> 'writes', 'null'), '[]')
        ) AS w (item);
END;

COMMENT ON FUNCTION omd_lake._writes_of IS
'Returns the writes of the commits p_commits, one row each. No locks.';
