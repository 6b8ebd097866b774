-- An upgrade starts nothing by itself, so the sources of work are shipped switched off.

CREATE OR REPLACE PROCEDURE omd_dispatch.set_work(
    p_is_on boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_work$
BEGIN
    p_is_on := omd.require_argument('p_is_on', p_is_on);
    PERFORM FROM omd_dispatch.turn AS t WHERE t.part = 'SOURCES' FOR UPDATE;
    UPDATE omd_dispatch.task_source AS s SET
        inactive_indicator = CASE WHEN p_is_on THEN 'N' ELSE 'Y' END,
        attempt = 0,
        retry_time = NULL
    WHERE s.family_code = 'WORK';
    PERFORM omd_dispatch._tell_sources();
END
$set_work$;

COMMENT ON PROCEDURE omd_dispatch.set_work IS
'Switches the sources of the family WORK on or off: with p_is_on, what is ready in any room '
'becomes tasks for the workers. Tasks that are there stay. Errors: OM005: p_is_on is NULL. Locks: '
'the sources. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.set_work TO omd_admin;
