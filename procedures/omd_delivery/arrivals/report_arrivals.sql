-- What was seen is a claim of a moment, and of two workers the slower one may report later. So
-- nothing that is decided here is final: the next look mends it. A look at which nothing has
-- changed writes no arrival.

CREATE OR REPLACE PROCEDURE omd_delivery.report_arrivals(
    p_agreement_code text,
    p_seen jsonb,
    p_problem text DEFAULT NULL,
    INOUT p_found bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $report_arrivals$
DECLARE
    v_agreement omd_delivery.agreement;
    v_quiet interval;
    v_now timestamptz;
BEGIN
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    PERFORM omd.require_read_committed();
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    p_found := 0::bigint;
    IF p_seen IS NULL AND p_problem IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_seen'));
    END IF;
    PERFORM omd_delivery._require_seen(p_seen);
    SELECT a.* INTO v_agreement
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM033', jsonb_build_object('agreement_code', p_agreement_code));
    ELSIF v_agreement.arrival IS NULL THEN
        PERFORM omd_delivery._raise_argument(
            'p_agreement_code', p_agreement_code, 'the agreement has no arrival'
        );
    END IF;
    PERFORM omd_delivery._hold_location(v_agreement.agreement_id);
    v_now := clock_timestamp();
    v_quiet := (v_agreement.arrival #>> '{ready,quiet}')::interval;
    UPDATE omd_delivery.arrival_location AS l SET
        reported_datetime = v_now,
        problem = left(split_part(p_problem, E'\n', 1), 1000),
        problem_datetime = CASE
            WHEN p_problem IS NOT NULL THEN coalesce(l.problem_datetime, v_now)
        END
    WHERE l.agreement_id = v_agreement.agreement_id;

    WITH seen AS MATERIALIZED (
        SELECT s.* FROM omd_delivery._seen_folders(v_agreement, coalesce(p_seen, '[]')) AS s
    ),

    compared AS MATERIALIZED (
        SELECT
            s.*,
            a.arrival_id,
            a.arrival_status AS old_status,
            a.found_datetime,
            a.delivery_id,
            a.refused_fingerprint,
            a.fingerprint AS old_fingerprint,
            a.seen_fingerprint,
            a.problem AS old_problem,
            a.entities AS old_entities,
            a.snapshot_datetime AS old_snapshot_datetime,
            a.files AS old_files,
            a.bytes AS old_bytes,
            -- Files that can't be seen are no other content.
            CASE
                WHEN s.fingerprint IS NULL OR s.fingerprint = a.seen_fingerprint
                    THEN a.changed_datetime
                ELSE v_now
            END AS changed_datetime,
            coalesce(s.fingerprint <> a.fingerprint, FALSE) AS is_other,
            s.unfit IS NULL AND s.unready IS NULL AND (
                v_quiet IS NULL
                OR CASE
                    WHEN s.fingerprint = a.seen_fingerprint THEN a.changed_datetime ELSE v_now
                END + v_quiet <= v_now
            ) AS is_ready
        FROM seen AS s
        LEFT JOIN omd_delivery.arrival AS a
            ON a.agreement_id = v_agreement.agreement_id AND s.folder = a.folder
    ),

    decided AS MATERIALIZED (
        SELECT
            c.*,
            CASE
                WHEN c.old_status IN ('TAKEN', 'DONE') AND c.is_other THEN 'CHANGED'
                WHEN c.old_status = 'CHANGED' AND c.fingerprint = c.old_fingerprint
                    THEN CASE
                        WHEN EXISTS (
                            SELECT FROM omd_delivery.delivery AS d
                            WHERE d.delivery_id = c.delivery_id
                                AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED')
                        ) THEN 'TAKEN'
                        ELSE 'DONE'
                    END
                WHEN c.old_status IN ('TAKEN', 'DONE', 'CHANGED') THEN c.old_status
                WHEN c.old_status = 'REFUSED' AND NOT (c.is_other AND c.is_ready) THEN 'REFUSED'
                WHEN c.unfit IS NOT NULL THEN 'UNFIT'
                WHEN c.fingerprint = c.refused_fingerprint THEN 'REFUSED'
                WHEN c.is_ready THEN 'FOUND'
                ELSE 'INCOMPLETE'
            END AS arrival_status
        FROM compared AS c
    ),

    wanted AS MATERIALIZED (
        SELECT
            d.*,
            coalesce(
                d.old_status IN ('TAKEN', 'DONE', 'CHANGED', 'REFUSED')
                AND d.arrival_status IN ('TAKEN', 'DONE', 'CHANGED', 'REFUSED'),
                FALSE
            ) AS is_kept,
            CASE d.arrival_status
                WHEN 'UNFIT' THEN d.unfit
                WHEN 'INCOMPLETE'
                    THEN coalesce(d.unready, 'its files have not been quiet for ' || v_quiet)
                WHEN 'CHANGED' THEN 'it has another content than what was taken'
                WHEN 'REFUSED' THEN coalesce(d.old_problem, 'this content was refused')
                WHEN 'DONE' THEN CASE d.old_status WHEN 'DONE' THEN d.old_problem END
            END AS problem
        FROM decided AS d
    ),

    written AS (
        INSERT INTO omd_delivery.arrival AS a (
            agreement_id, folder, snapshot_datetime, arrival_status, fingerprint, files, bytes,
            found_datetime, changed_datetime, delivery_id, problem, entities, seen_fingerprint
        )
        SELECT
            v_agreement.agreement_id,
            w.folder,
            CASE WHEN w.is_kept THEN w.old_snapshot_datetime ELSE w.snapshot_datetime END,
            w.arrival_status,
            CASE WHEN w.is_kept THEN w.old_fingerprint ELSE w.fingerprint END,
            CASE WHEN w.is_kept THEN w.old_files ELSE w.files END,
            CASE WHEN w.is_kept THEN w.old_bytes ELSE w.bytes END,
            CASE
                WHEN w.arrival_status = 'FOUND' AND w.old_status IS DISTINCT FROM 'FOUND' THEN v_now
                ELSE w.found_datetime
            END,
            coalesce(w.changed_datetime, v_now),
            w.delivery_id,
            w.problem,
            CASE WHEN w.is_kept THEN w.old_entities ELSE w.entities END,
            coalesce(w.fingerprint, w.seen_fingerprint)
        FROM wanted AS w
        WHERE w.arrival_id IS NULL
            OR w.arrival_status <> w.old_status
            OR w.problem IS DISTINCT FROM w.old_problem
            OR coalesce(w.fingerprint, w.seen_fingerprint) IS DISTINCT FROM w.seen_fingerprint
            OR (
                NOT w.is_kept AND (
                    (w.snapshot_datetime, w.fingerprint, w.files, w.bytes, w.entities)
                    IS DISTINCT FROM (
                        w.old_snapshot_datetime, w.old_fingerprint, w.old_files, w.old_bytes,
                        w.old_entities
                    )
                )
            )
        ON CONFLICT (agreement_id, folder) DO UPDATE SET
            snapshot_datetime = excluded.snapshot_datetime,
            arrival_status = excluded.arrival_status,
            fingerprint = excluded.fingerprint,
            files = excluded.files,
            bytes = excluded.bytes,
            found_datetime = excluded.found_datetime,
            changed_datetime = excluded.changed_datetime,
            problem = excluded.problem,
            entities = excluded.entities,
            seen_fingerprint = excluded.seen_fingerprint,
            moved_to = CASE excluded.arrival_status WHEN 'FOUND' THEN NULL ELSE a.moved_to END
    )

    SELECT count(*) FILTER (
        WHERE w.arrival_status = 'FOUND' AND w.old_status IS DISTINCT FROM 'FOUND'
    )
    INTO p_found
    FROM wanted AS w;

    -- What is gone was not delivered. A content that was refused stays known.
    IF p_problem IS NULL THEN
        WITH gone AS MATERIALIZED (
            SELECT a.arrival_id, a.refused_fingerprint
            FROM omd_delivery.arrival AS a
            WHERE a.agreement_id = v_agreement.agreement_id
                AND a.arrival_status IN ('UNFIT', 'INCOMPLETE', 'FOUND')
                AND NOT EXISTS (
                    SELECT FROM jsonb_array_elements(p_seen) AS s
                    WHERE s.value ->> 'folder' = a.folder
                )
        ),

        deleted AS (
            DELETE FROM omd_delivery.arrival AS a
            USING gone AS g
            WHERE a.arrival_id = g.arrival_id AND g.refused_fingerprint IS NULL
        )

        UPDATE omd_delivery.arrival AS a SET
            arrival_status = 'REFUSED',
            fingerprint = g.refused_fingerprint,
            problem = 'this content was refused, and the folder is gone'
        FROM gone AS g
        WHERE a.arrival_id = g.arrival_id AND g.refused_fingerprint IS NOT NULL;
    END IF;
    IF p_found > 0 THEN
        PERFORM omd.notify(
            'omd_delivery',
            jsonb_build_object('event', 'look', 'agreement_id', v_agreement.agreement_id)::text
        );
    END IF;
END
$report_arrivals$;

COMMENT ON PROCEDURE omd_delivery.report_arrivals IS
'For programs: '
'Takes what a look at the location of the agreement p_agreement_code has seen, and decides what '
'each folder is. p_seen: all that is there, [{folder, kind FOLDER, FILE or LINK (also for one '
'inside), files: [{path, bytes, modified}], manifest (the content of the file of this name), '
'problem (why the folder could not be read)}]; of a folder that is there twice the last one '
'counts. p_problem: why the location could not be read; then p_seen is NULL, or only a part, and '
'nothing is taken for gone. Returns p_found, how many folders became FOUND. It tells whoever '
'listens on omd_delivery. Errors: OM005: both p_seen and p_problem are NULL, or p_agreement_code '
'is; OM013: it is not allowed as a name; OM014: the isolation level is not read committed; OM033: '
'there is no such agreement; OM036: it has no arrival, or p_seen is no such list. Locks: the '
'location, its arrivals. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.report_arrivals TO omd_runner;
