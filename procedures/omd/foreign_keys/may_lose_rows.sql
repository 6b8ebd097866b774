-- Most tables have no trigger at all, and so no foreign key refers to them; the catalogue says so
-- in one row.

CREATE OR REPLACE FUNCTION omd.may_lose_rows(
    p_relation oid
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                EXISTS (
                    SELECT FROM pg_class AS c
                    WHERE c.oid = p_relation AND (c.relhastriggers OR c.relhassubclass)
                )
                THEN EXISTS (SELECT FROM omd._lossy_keys(p_relation, FALSE))
            ELSE FALSE
        END;
END;

COMMENT ON FUNCTION omd.may_lose_rows IS
'For rooms: Returns whether a foreign key may delete or change rows of other runs when rows of '
'p_relation are deleted. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.may_lose_rows TO omd_runner, omd_admin;
