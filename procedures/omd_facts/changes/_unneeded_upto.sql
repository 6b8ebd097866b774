-- One rule for the purge and for who asks what it would delete. What was purged before is unneeded.

CREATE OR REPLACE FUNCTION omd_facts._unneeded_upto(
    p_interface_id integer,
    p_before timestamptz
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        greatest(
            i.purged_change_id,
            (
                SELECT c.change_id
                FROM omd_facts.change AS c
                WHERE
                    c.interface_id = i.interface_id
                    AND c.change_datetime < p_before
                    AND c.change_id <= coalesce(
                        (
                            SELECT min(r.end_id)
                            FROM omd.source_readers('facts.' || i.interface_code) AS r
                        ),
                        9223372036854775807
                    )
                ORDER BY c.change_id DESC
                LIMIT 1
            )
        )
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id;
END;

COMMENT ON FUNCTION omd_facts._unneeded_upto IS
'Returns the newest change of the interface p_interface_id that was before p_before and that every '
'reader has passed; 0: none. Locks: none.';
