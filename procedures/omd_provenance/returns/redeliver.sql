-- A worker that has died in between calls again, and goes on with the same delivery.

CREATE OR REPLACE PROCEDURE omd_provenance.redeliver(
    p_recall_id bigint,
    INOUT p_delivery_id bigint DEFAULT NULL,
    INOUT p_files jsonb DEFAULT NULL,
    INOUT p_outcome text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $redeliver$
BEGIN
    p_recall_id := omd.require_argument('p_recall_id', p_recall_id);
    PERFORM FROM omd_provenance.recall AS r WHERE r.recall_id = p_recall_id;
    IF NOT FOUND AND NOT EXISTS (
        SELECT FROM omd.awaited_return AS r WHERE r.recall_id = p_recall_id
    ) THEN
        PERFORM omd.raise_error(
            'OM090', jsonb_build_object('object', 'recall', 'key', p_recall_id)
        );
    END IF;
    CALL omd_delivery.redeliver(p_recall_id, p_delivery_id, p_files, p_outcome);
END
$redeliver$;

COMMENT ON PROCEDURE omd_provenance.redeliver IS
'For programs: '
'Creates the next delivery of the recall p_recall_id that is DUE, with the arguments of the one '
'that was taken back, or finds the one that was created so and has not ended. p_delivery_id: only '
'this one; NULL: any. p_files: the files that are there now, [{entity, uri, bytes, modified}]; '
'NULL: nobody has looked. Returns p_delivery_id; p_files, those that were recorded, each also '
'with root, what was handed over; and p_outcome: RUN, deliver these files as that delivery; '
'BY_HAND, its tenant must bring it, since files are gone or have changed, or it can''t be '
'created: the delivery is CANCELLED then; WAITING, another one comes first; RUNNING, its tenant '
'is delivering it; NOTHING, none of the recall is open. Errors: OM005: p_recall_id is NULL; '
'OM014: the isolation level is not read committed; OM036: p_files is no such list; OM090: there '
'is no such recall; OM232: the agreement is inactive, or not effective today. Locks: the '
'interface, the entry, the delivery. Call again when the answer was lost. May be NULL: '
'p_delivery_id, p_files. Takes too: p_delivery_id, p_files.';
GRANT EXECUTE ON PROCEDURE omd_provenance.redeliver TO omd_runner;
