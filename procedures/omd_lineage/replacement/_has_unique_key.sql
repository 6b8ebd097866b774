-- Where the key is unique, a row is replaced in its place: what refers to it goes on, and columns
-- that the view does not have keep their values.

CREATE OR REPLACE FUNCTION omd_lineage._has_unique_key(
    p_table regclass,
    p_key text[]
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT
        FROM pg_index AS i
        WHERE
            i.indrelid = p_table
            AND i.indisunique
            AND i.indisvalid
            AND i.indpred IS NULL
            AND i.indnkeyatts = cardinality(p_key)
            AND NOT EXISTS (
                SELECT
                FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS c (attnum, n)
                WHERE
                    c.n <= i.indnkeyatts
                    AND NOT EXISTS (
                        SELECT
                        FROM pg_attribute AS a
                        WHERE
                            a.attrelid = p_table
                            AND a.attnum = c.attnum
                            AND a.attname = any(p_key)
                    )
            )
    );
END;

COMMENT ON FUNCTION omd_lineage._has_unique_key IS
'Returns whether a unique index of the table p_table is on exactly the columns p_key. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._has_unique_key TO omd_runner, omd_admin;
