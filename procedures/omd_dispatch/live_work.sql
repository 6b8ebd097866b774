-- The keys of live tasks are few, and an index has them. The type is no part of it: the engine of a
-- Module may have changed since its task was created.

CREATE OR REPLACE FUNCTION omd_dispatch.live_work()
RETURNS TABLE (
    code text,
    task_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        m.key_text::jsonb ->> 2 AS code,
        m.task_id
    FROM omd_dispatch.mutex AS m
    WHERE m.family_code = 'WORK';
END;

COMMENT ON FUNCTION omd_dispatch.live_work IS
'For rooms: Returns the live tasks of the family WORK, each with the Module that it runs. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_dispatch.live_work FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch.live_work TO omd_reader;
