-- It goes down where both sides are objects; a list is compared as a whole.

CREATE OR REPLACE FUNCTION omd_decision._changes(
    p_path text,
    p_old jsonb,
    p_new jsonb
)
RETURNS TABLE (
    path text,
    old jsonb,
    new jsonb
)
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $changes$
BEGIN
    IF jsonb_typeof(p_old) = 'object' AND jsonb_typeof(p_new) = 'object' THEN
        RETURN QUERY
        SELECT c.path, c.old, c.new
        FROM (
            SELECT jsonb_object_keys(p_old) AS property
            UNION
            SELECT jsonb_object_keys(p_new)
        ) AS k
        CROSS JOIN LATERAL omd_decision._changes(
            concat_ws('.', nullif(p_path, ''), nullif(k.property, '')),
            p_old -> k.property,
            p_new -> k.property
        ) AS c;
    ELSIF p_old IS DISTINCT FROM p_new THEN
        RETURN QUERY SELECT p_path, p_old, p_new;
    END IF;
END
$changes$;

COMMENT ON FUNCTION omd_decision._changes IS
'Returns where the values p_old and p_new at p_path differ, with both values; NULL is one that '
'is absent. Locks: none.';
