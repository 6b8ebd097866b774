-- Rows of a partition are read through its parents.

CREATE OR REPLACE FUNCTION omd.topmost_parents(
    p_relation oid
)
RETURNS oid[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $topmost_parents$
BEGIN
    -- Most tables have no parent, and this look saves them a walk.
    IF NOT EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhrelid = p_relation) THEN
        RETURN ARRAY[p_relation];
    END IF;
    RETURN ARRAY(
        WITH RECURSIVE up AS (
            SELECT p_relation AS relid
            UNION
            SELECT h.inhparent
            FROM up AS u
            INNER JOIN pg_inherits AS h ON u.relid = h.inhrelid
        )

        SELECT u.relid
        FROM up AS u
        WHERE NOT EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhrelid = u.relid)
    );
END
$topmost_parents$;

COMMENT ON FUNCTION omd.topmost_parents IS
'For rooms: returns the tables at the top of those whose partition or child p_relation is; itself, '
'where it is none. Locks: none.';
