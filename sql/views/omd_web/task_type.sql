-- A type is known by two codes; an action needs one key. No code has a slash in it.

CREATE OR REPLACE VIEW omd_web.task_type AS
SELECT
    t.family_code || '/' || t.task_type AS task_type_key,
    t.family_code,
    t.task_type,
    t.handler,
    t.target,
    t.deliver_id,
    t.timeout,
    t.max_attempts,
    t.backoff,
    t.backoff_limit,
    t.later_after,
    t.max_running,
    t.limit_criterion,
    t.on_failure,
    ARRAY(
        SELECT s.suspension_id
        FROM omd_dispatch.task_suspension AS s
        WHERE
            s.family_code = t.family_code AND s.resumed_at IS NULL AND (
                NOT EXISTS (
                    SELECT FROM omd_dispatch.task_suspension_types AS a
                    WHERE a.suspension_id = s.suspension_id
                )
                OR EXISTS (
                    SELECT FROM omd_dispatch.task_suspension_types AS a
                    WHERE a.suspension_id = s.suspension_id AND a.task_type = t.task_type
                )
            )
        ORDER BY s.suspension_id
    ) AS suspensions
FROM omd_dispatch.task_conf_type_desc AS t;

COMMENT ON VIEW omd_web.task_type IS
'For rooms: Each type of tasks as it is registered, and the suspensions that hold tasks of it.';
COMMENT ON COLUMN omd_web.task_type.task_type_key IS 'The key: family/type.';
COMMENT ON COLUMN omd_web.task_type.family_code IS 'The family.';
COMMENT ON COLUMN omd_web.task_type.task_type IS 'The type.';
COMMENT ON COLUMN omd_web.task_type.handler IS 'BATCH, MODULE, SQL or PYTHON.';
COMMENT ON COLUMN omd_web.task_type.target IS 'What is called; NULL: the run itself.';
COMMENT ON COLUMN omd_web.task_type.deliver_id IS 'The group of workers that takes its tasks.';
COMMENT ON COLUMN omd_web.task_type.timeout IS
'After this time a worker ends a run; NULL: never.';
COMMENT ON COLUMN omd_web.task_type.max_attempts IS 'How often a task is tried.';
COMMENT ON COLUMN omd_web.task_type.backoff IS 'The wait after the first failure.';
COMMENT ON COLUMN omd_web.task_type.backoff_limit IS 'The longest such wait.';
COMMENT ON COLUMN omd_web.task_type.later_after IS 'The wait after the outcome A.';
COMMENT ON COLUMN omd_web.task_type.max_running IS
'How many of its tasks run at once at most; NULL: there is no limit.';
COMMENT ON COLUMN omd_web.task_type.limit_criterion IS
'The limit holds for each value of this criterion; NULL: for the type.';
COMMENT ON COLUMN omd_web.task_type.on_failure IS 'RETRY or END.';
COMMENT ON COLUMN omd_web.task_type.suspensions IS
'The suspensions that hold all of its tasks, or some.';
