-- A publisher holds the row for a moment only. The namespace of the jobs stands before a slash in
-- the text by which a run names its parent, so it must be read back from there.

CREATE OR REPLACE PROCEDURE omd_event.configure(
    p_job_namespace text DEFAULT NULL,
    p_dataset_namespace text DEFAULT NULL,
    p_web_url text DEFAULT NULL,
    p_keep interval DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $configure$
DECLARE
    v_wrong record;
BEGIN
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_job_namespace', p_job_namespace,
            'a text with a character that is seen, and a slash only in the // of a URL without a path',
            p_job_namespace IS NOT NULL AND NOT omd_event._is_job_namespace(p_job_namespace)
        ),
        (
            'p_dataset_namespace', p_dataset_namespace, 'a text with a character that is seen',
            p_dataset_namespace !~ '\S'
        ),
        (
            'p_web_url', p_web_url, 'an address that begins with http:// or https://',
            p_web_url !~ '^https?://\S+$'
        ),
        (
            'p_keep', p_keep::text, 'an interval of more than 0 and at most 100 years',
            p_keep NOT BETWEEN interval '1 microsecond' AND interval '100 years'
        )
    ) AS w (argument, value, expected, is_wrong)
    WHERE w.is_wrong
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error('OM013', to_jsonb(v_wrong));
    END IF;
    IF num_nonnulls(p_job_namespace, p_dataset_namespace, p_web_url, p_keep) = 0 THEN
        RETURN;
    END IF;
    UPDATE omd_event.setting AS s SET
        job_namespace = coalesce(p_job_namespace, s.job_namespace),
        dataset_namespace = coalesce(p_dataset_namespace, s.dataset_namespace),
        web_url = coalesce(rtrim(p_web_url, '/'), s.web_url),
        keep = coalesce(p_keep, s.keep);
    PERFORM omd_event._log_edit(
        'EVENTS',
        format(
            'configured: %s',
            jsonb_strip_nulls(
                jsonb_build_object(
                    'job_namespace', p_job_namespace,
                    'dataset_namespace', p_dataset_namespace,
                    'web_url', p_web_url,
                    'keep', p_keep
                )
            )
        )
    );
END
$configure$;

COMMENT ON PROCEDURE omd_event.configure IS
'Sets how events are named and kept; NULL keeps what is set. p_job_namespace: the namespace of the '
'jobs in OpenLineage (at first omd.<database>); it has a slash only in the :// of a URL without a '
'path, so that a parent <namespace>/<job>/<run id> is read back as it was written. '
'p_dataset_namespace: that of the tables of this database (at first postgres://localhost:<port>). '
'p_web_url: where the page of OMD is found (at first nowhere). p_keep: how long events are kept '
'(at first 30 days). Errors: OM013. Locks: the row of omd_event.setting.';
GRANT EXECUTE ON PROCEDURE omd_event.configure TO omd_admin;
