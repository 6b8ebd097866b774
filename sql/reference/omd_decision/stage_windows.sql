-- What the windows of a former version read is written down once; each definition does it from now
-- on.

DO $do$
BEGIN
    PERFORM omd_decision._save_window(s.stage_id)
    FROM omd_decision.stage AS s
    INNER JOIN omd_decision.stage_version AS v
        ON s.stage_id = v.stage_id AND s.version = v.version
    WHERE s.module_id IS NOT NULL
        AND v.definition ? 'window'
        AND s.window_code IS NULL
    ORDER BY s.module_id;
END
$do$;
