-- The row of watch is taken with SKIP LOCKED: any number of publishers may call this, and none
-- waits for another. A problem is the same as before if its code and its object are, whatever its
-- words.

CREATE OR REPLACE PROCEDURE omd_event.watch(
    INOUT p_began bigint DEFAULT NULL,
    INOUT p_ended bigint DEFAULT NULL,
    IN p_every interval DEFAULT interval '0'
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $watch$
BEGIN
    p_began := NULL;
    p_ended := NULL;
    p_every := omd.require_argument('p_every', p_every);
    IF p_every < interval '0' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_every', 'value', p_every, 'expected', 'an interval of 0 or more'
            )
        );
    END IF;
    PERFORM FROM omd_event.watch AS w
    WHERE w.watched_datetime + p_every <= clock_timestamp() IS NOT FALSE
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    WITH
    seen AS MATERIALIZED (
        SELECT DISTINCT ON (p.problem_key)
            p.problem_key,
            p.problem_code,
            p.object_kind,
            p.object_key,
            p.subject,
            p.severity
        FROM (
            SELECT
                sha256(
                    convert_to(
                        jsonb_build_array(q.problem_code, q.object_kind, q.object_key)::text, 'UTF8'
                    )
                ) AS problem_key,
                q.*
            FROM omd_report.problems AS q
        ) AS p
        ORDER BY p.problem_key, p.subject
    ),

    began AS (
        INSERT INTO omd_event.known_problem AS k (
            problem_key, problem_code, object_kind, object_key, subject, severity
        )
        SELECT
            s.problem_key,
            s.problem_code,
            s.object_kind,
            s.object_key,
            s.subject,
            s.severity
        FROM seen AS s
        WHERE NOT EXISTS (
            SELECT FROM omd_event.known_problem AS o WHERE o.problem_key = s.problem_key
        )
        RETURNING k.problem_code, k.subject, k.severity
    ),

    ended AS (
        DELETE FROM omd_event.known_problem AS k
        WHERE NOT EXISTS (SELECT FROM seen AS s WHERE s.problem_key = k.problem_key)
        RETURNING k.problem_code, k.subject, k.severity
    ),

    said AS (
        INSERT INTO omd_event.outbox AS o (event_type, subject_type, subject_id, code, detail)
        SELECT
            c.event_type,
            'PROBLEM',
            0,
            c.problem_code || '/' || c.subject,
            jsonb_build_object('severity', c.severity)
        FROM (
            SELECT 'PROBLEM_BEGAN' AS event_type, b.* FROM began AS b
            UNION ALL
            SELECT 'PROBLEM_ENDED', e.* FROM ended AS e
        ) AS c
        ORDER BY c.event_type DESC, c.problem_code, c.subject
        RETURNING o.event_type
    )

    SELECT
        count(*) FILTER (WHERE s.event_type = 'PROBLEM_BEGAN'),
        count(*) FILTER (WHERE s.event_type = 'PROBLEM_ENDED')
    INTO p_began, p_ended
    FROM said AS s;
    UPDATE omd_event.watch AS w SET watched_datetime = clock_timestamp();
END
$watch$;

COMMENT ON PROCEDURE omd_event.watch IS
'For the driver: '
'Compares omd_report.problems with what the last call has found, and makes an event of each '
'problem that is new or gone. Returns p_began and p_ended, how many there were; NULL: another '
'session looks at this moment, or the last look is younger than p_every. Publishers call it each '
'15 seconds. May be NULL: p_began, p_ended. Errors: OM005: p_every is NULL; OM013: it is negative. '
'Locks: the row of watch, until the transaction ends.';
GRANT EXECUTE ON PROCEDURE omd_event.watch TO omd_runner, omd_admin;
