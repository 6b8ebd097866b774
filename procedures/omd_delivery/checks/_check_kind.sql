-- The kind to which parts of a check come when they are compared, or chosen from.

CREATE OR REPLACE FUNCTION omd_delivery._check_kind(
    p_nodes jsonb[]
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $check_kind$
DECLARE
    v_ladders CONSTANT text[] := ARRAY[
        'integer numeric double precision', 'date timestamp timestamptz'
    ];
    v_kinds text[];
    v_ladder text;
BEGIN
    SELECT array_agg(DISTINCT n.node ->> 'kind') INTO v_kinds
    FROM unnest(p_nodes) AS n (node)
    WHERE n.node ->> 'kind' <> 'unknown';
    IF v_kinds IS NULL THEN
        RETURN 'text';
    ELSIF cardinality(v_kinds) = 1 THEN
        RETURN v_kinds[1];
    END IF;
    FOREACH v_ladder IN ARRAY v_ladders LOOP
        IF (SELECT bool_and(position(k.kind IN v_ladder) > 0) FROM unnest(v_kinds) AS k (kind)) THEN
            RETURN (
                SELECT k.kind FROM unnest(v_kinds) AS k (kind)
                ORDER BY position(k.kind IN v_ladder) + length(k.kind) DESC
                LIMIT 1
            );
        END IF;
    END LOOP;
    RAISE EXCEPTION USING
        ERRCODE = 'syntax_error',
        MESSAGE = format('%s can''t be compared', array_to_string(v_kinds, ' and '));
END
$check_kind$;

COMMENT ON FUNCTION omd_delivery._check_kind IS
'Returns the kind that the parts p_nodes of a check have in common. Errors: 42601: they have none.'
' Locks: none.';
