-- What a person must bring is no work of a worker. The rows are few, and usually there are none.

CREATE OR REPLACE VIEW omd.return_work AS
SELECT
    r.module_id,
    min(r.recall_id) AS recall_id,
    min(r.noted_datetime) AS since,
    array_agg(DISTINCT u.module_id) FILTER (WHERE u.module_id IS NOT NULL) AS upstream
FROM omd.module_return AS r
INNER JOIN omd.module AS m ON r.module_id = m.module_id
LEFT JOIN LATERAL unnest(r.upstream) AS u (module_id) ON TRUE
WHERE
    r.ended_datetime IS NULL
    AND m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
    AND m.engine_code IS NOT NULL
GROUP BY r.module_id
HAVING NOT bool_or(r.is_by_hand);

COMMENT ON VIEW omd.return_work IS
'For rooms: the Modules of kind SQL and JOB of which a recall took runs back that a worker is to '
'make again.';
COMMENT ON COLUMN omd.return_work.module_id IS 'The Module.';
COMMENT ON COLUMN omd.return_work.recall_id IS 'The recall, the oldest of several.';
COMMENT ON COLUMN omd.return_work.since IS 'When it was executed.';
COMMENT ON COLUMN omd.return_work.upstream IS
'The Modules that must have made again what these runs had read; NULL: none.';
