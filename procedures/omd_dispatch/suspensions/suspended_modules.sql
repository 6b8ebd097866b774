-- Most often nothing is suspended, and then no Module is looked at. Readers of the view of work may
-- see what is suspended, and not the tables of tasks.

CREATE OR REPLACE FUNCTION omd_dispatch.suspended_modules()
RETURNS TABLE (
    module_id integer
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
AS $suspended_modules$
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_suspension AS s
        WHERE s.family_code = 'WORK' AND s.resumed_at IS NULL
    ) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT m.module_id
    FROM omd.module_target AS m
    WHERE EXISTS (
        SELECT FROM omd_dispatch.task_suspension AS s
        CROSS JOIN LATERAL omd_dispatch._suspension_holds(
            s.suspension_id,
            CASE m.engine_code WHEN 'POSTGRES' THEN 'DATABASE' ELSE m.engine_code END,
            jsonb_build_object('CODE', m.module_code, 'KIND', m.module_kind_code)
        )
        WHERE s.family_code = 'WORK' AND s.resumed_at IS NULL
    );
END
$suspended_modules$;

COMMENT ON FUNCTION omd_dispatch.suspended_modules IS
'For rooms: Returns the Modules whose tasks of the family WORK a suspension holds. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch.suspended_modules TO omd_reader;
