-- A type is wider when it takes each value of the other unchanged.

CREATE OR REPLACE FUNCTION omd_delivery._type_widens(
    p_old text,
    p_new text
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        p_old = p_new
        OR (
            omd_delivery._type_kind(p_old) = omd_delivery._type_kind(p_new)
            AND CASE omd_delivery._type_kind(p_old)
                WHEN 'integer'
                    THEN
                        array_position(ARRAY['smallint', 'integer', 'bigint'], p_old)
                        < array_position(ARRAY['smallint', 'integer', 'bigint'], p_new)
                WHEN 'numeric'
                    THEN
                        s.new[2] >= s.old[2] AND s.new[1] - s.new[2] >= s.old[1] - s.old[2]
                WHEN 'text' THEN coalesce(s.new[1] >= s.old[1], p_new = 'text')
                ELSE FALSE
            END
        )
    FROM (
        SELECT
            regexp_split_to_array(substring(p_old FROM '[(](.*)[)]'), ',')::integer[] AS old,
            regexp_split_to_array(substring(p_new FROM '[(](.*)[)]'), ',')::integer[] AS new
    ) AS s;
END;

COMMENT ON FUNCTION omd_delivery._type_widens IS
'Returns whether each value of the type p_old is a value of p_new too, so that a column may become'
' of it. Locks: none.';
