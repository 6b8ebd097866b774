-- Delivery has checked what becomes of a type; here it is only whether it is the same or another.

CREATE OR REPLACE FUNCTION omd_facts._type_widens(
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
            regexp_replace(p_old, '\(.*', '') = regexp_replace(p_new, '\(.*', '')
        )
        OR (
            p_old IN ('smallint', 'integer', 'bigint')
            AND p_new IN ('smallint', 'integer', 'bigint')
        )
        OR (p_old LIKE 'character varying%' AND p_new = 'text');
END;

COMMENT ON FUNCTION omd_facts._type_widens IS
'Returns whether a column of the type p_old may become of p_new, which delivery has accepted. '
'Locks: none.';
