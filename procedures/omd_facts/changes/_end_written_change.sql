-- Rows are written through views one by one, and nobody says which is the last: the commit does.
-- The entities that were written are those whose mark is the time of the transaction.

CREATE OR REPLACE FUNCTION omd_facts._end_written_change()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_written_change$
BEGIN
    UPDATE omd_facts.change AS c
    SET entity_ids = ARRAY(
        SELECT e.entity_id
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.entity_mark AS k USING (entity_id)
        WHERE e.interface_id = new.interface_id AND k.mark_datetime = new.transaction_datetime
        ORDER BY e.entity_id
    )
    WHERE c.change_id = new.change_id;
    PERFORM omd_facts._end_change(new.change_id);
    RETURN NULL;
END
$end_written_change$;

COMMENT ON FUNCTION omd_facts._end_written_change IS
'The trigger of omd_facts.change that ends a change of the kind CRUD, at its commit. Locks: the '
'position, beside readers.';
