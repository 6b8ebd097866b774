-- phase: contract
-- V193: the Modules of the former kind SPARK are of the kind JOB. The routines of before take only
-- SPARK for a program: they would refuse the SQL of its callers, and a recall would pass over its
-- runs. So the rows follow when these routines are gone. Applied once.

UPDATE omd.module SET
    module_kind_code = 'JOB',
    engine_code = CASE WHEN job IS NOT NULL THEN 'SPARK' END
WHERE module_kind_code = 'SPARK';
DELETE FROM omd.module_kind WHERE module_kind_code = 'SPARK';

-- What was counted of them.
WITH former AS (
    DELETE FROM omd_event.counter WHERE labels ->> 'kind' = 'SPARK'
    RETURNING metric_name, sample_name, labels || '{"kind": "JOB"}' AS labels, value
)

INSERT INTO omd_event.counter AS c (metric_name, label_key, sample_name, labels, value)
SELECT
    f.metric_name,
    sha256(convert_to(f.sample_name || f.labels::text, 'UTF8')) AS label_key,
    f.sample_name,
    f.labels,
    f.value
FROM former AS f
ON CONFLICT (metric_name, label_key) DO UPDATE SET value = c.value + excluded.value;

-- What a person has suspended stays so: the tasks of both names.
INSERT INTO omd_dispatch.task_suspension_criteria (suspension_id, criterion, criterion_value)
SELECT
    c.suspension_id,
    c.criterion,
    'JOB' AS criterion_value
FROM omd_dispatch.task_suspension_criteria AS c
INNER JOIN omd_dispatch.task_suspension AS s ON c.suspension_id = s.suspension_id
WHERE
    s.family_code = 'WORK'
    AND s.resumed_at IS NULL
    AND c.criterion = 'KIND'
    AND c.criterion_value = 'SPARK'
ON CONFLICT DO NOTHING;
