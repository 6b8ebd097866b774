-- A publisher holds the row for a moment only. The namespace of the jobs stands before a slash in
-- the text by which a run names its parent, so it must be read back from there.

CREATE OR REPLACE PROCEDURE omd_event.configure(
    p_job_namespace text DEFAULT NULL,
    p_dataset_namespace text DEFAULT NULL,
    p_web_url text DEFAULT NULL,
    p_keep interval DEFAULT NULL,
    p_tries integer DEFAULT NULL
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
        ),
        (
            'p_tries', p_tries::text, 'a number from 1 to 100', p_tries NOT BETWEEN 1 AND 100
        )
    ) AS w (argument, value, expected, is_wrong)
    WHERE w.is_wrong
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error('OM013', to_jsonb(v_wrong));
    END IF;
    IF num_nonnulls(p_job_namespace, p_dataset_namespace, p_web_url, p_keep, p_tries) = 0 THEN
        RETURN;
    END IF;
    UPDATE omd_event.setting AS s SET
        job_namespace = coalesce(p_job_namespace, s.job_namespace),
        dataset_namespace = coalesce(p_dataset_namespace, s.dataset_namespace),
        web_url = coalesce(rtrim(p_web_url, '/'), s.web_url),
        keep = coalesce(p_keep, s.keep),
        tries = coalesce(p_tries, s.tries);
    PERFORM omd_event._log_edit(
        'EVENTS',
        format(
            'configured: %s',
            jsonb_strip_nulls(
                jsonb_build_object(
                    'job_namespace', p_job_namespace,
                    'dataset_namespace', p_dataset_namespace,
                    'web_url', p_web_url,
                    'keep', p_keep,
                    'tries', p_tries
                )
            )
        )
    );
END
$configure$;

COMMENT ON PROCEDURE omd_event.configure IS
'Sets how events are named, kept and sent; NULL keeps what is set. p_job_namespace: the namespace '
'of the jobs in OpenLineage (at first omd.<database>); it has a slash only in the :// of a URL '
'without a path, so that a parent <namespace>/<job>/<run id> is read back as it was written. '
'p_dataset_namespace: that of the tables of this database (at first postgres://localhost:<port>). '
'p_web_url: where the page of OMD is found (at first nowhere). p_keep: how long events are kept '
'(at first 30 days). p_tries: how often an event is sent that its receiver refuses, until the '
'refusal is final (at first 3 times; omd_report.event_sinks shows it). Errors: OM013. Locks: the '
'row of omd_event.setting.';
GRANT EXECUTE ON PROCEDURE omd_event.configure TO omd_admin;
