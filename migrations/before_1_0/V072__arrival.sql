-- V072: delivery, third part: what arrives in folders. An agreement says where, and every folder is
-- a row. Applied once.

ALTER TABLE omd_delivery.agreement ADD COLUMN arrival jsonb;
COMMENT ON COLUMN omd_delivery.agreement.arrival IS
'Where its deliveries arrive as folders: location, folder, zone, ready, then, loads, every, as far '
'as they were given; NULL: nowhere.';
COMMENT ON COLUMN omd_delivery.agreement.options IS
'The options: allow_symbolic_links, csv, export, include_existing, max_concurrent_entities, '
'max_sample_size.';

CREATE TABLE omd_delivery.arrival_location (
    agreement_id integer NOT NULL,
    looked_datetime timestamptz,
    reported_datetime timestamptz,
    problem text,
    problem_datetime timestamptz,
    CONSTRAINT pk_arrival_location PRIMARY KEY (agreement_id),
    CONSTRAINT fk_arrival_location_agreement FOREIGN KEY (agreement_id)
    REFERENCES omd_delivery.agreement (agreement_id)
);
COMMENT ON TABLE omd_delivery.arrival_location IS
'The looks at the location of each agreement that has one. Its row is the lock of the arrivals of '
'the agreement; whoever holds the interface too has taken that before.';
COMMENT ON COLUMN omd_delivery.arrival_location.agreement_id IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.arrival_location.looked_datetime IS
'When somebody began to look there last; NULL: nobody has.';
COMMENT ON COLUMN omd_delivery.arrival_location.reported_datetime IS
'When somebody said last what was there; NULL: nobody has.';
COMMENT ON COLUMN omd_delivery.arrival_location.problem IS
'Why the last look failed; NULL: it did not.';
COMMENT ON COLUMN omd_delivery.arrival_location.problem_datetime IS
'Since when looks have failed; NULL: the last one did not.';

CREATE TABLE omd_delivery.arrival (
    arrival_id bigint GENERATED ALWAYS AS IDENTITY,
    agreement_id integer NOT NULL,
    folder text NOT NULL,
    snapshot_datetime timestamptz,
    arrival_status text NOT NULL,
    fingerprint text,
    files bigint,
    bytes bigint,
    found_datetime timestamptz,
    changed_datetime timestamptz NOT NULL,
    delivery_id bigint,
    problem text,
    entities text[],
    seen_fingerprint text,
    refused_fingerprint text,
    moved_to text,
    CONSTRAINT pk_arrival PRIMARY KEY (arrival_id),
    CONSTRAINT uq_arrival_folder UNIQUE (agreement_id, folder),
    CONSTRAINT uq_arrival_delivery UNIQUE (delivery_id),
    CONSTRAINT fk_arrival_agreement FOREIGN KEY (agreement_id)
    REFERENCES omd_delivery.agreement (agreement_id),
    CONSTRAINT fk_arrival_delivery FOREIGN KEY (delivery_id)
    REFERENCES omd_delivery.delivery (delivery_id),
    CONSTRAINT ck_arrival_status CHECK (
        arrival_status IN ('UNFIT', 'INCOMPLETE', 'FOUND', 'TAKEN', 'DONE', 'REFUSED', 'CHANGED')
    ),
    CONSTRAINT ck_arrival_taken CHECK (arrival_status <> 'TAKEN' OR delivery_id IS NOT NULL),
    CONSTRAINT ck_arrival_found CHECK (
        arrival_status <> 'FOUND' OR (
            snapshot_datetime IS NOT NULL AND fingerprint IS NOT NULL AND found_datetime IS NOT NULL
        )
    )
);
CREATE INDEX ix_arrival_oldest
ON omd_delivery.arrival (agreement_id, arrival_status, snapshot_datetime, arrival_id);
COMMENT ON TABLE omd_delivery.arrival IS
'The folders that were seen at the locations of agreements, and what became of each.';
COMMENT ON COLUMN omd_delivery.arrival.arrival_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_delivery.arrival.agreement_id IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.arrival.folder IS 'The name of the folder in the location.';
COMMENT ON COLUMN omd_delivery.arrival.snapshot_datetime IS
'The time T that its name gives; NULL: it gives none.';
COMMENT ON COLUMN omd_delivery.arrival.arrival_status IS
'UNFIT: it can''t be a delivery. INCOMPLETE: it is not ready. FOUND: it may be delivered. TAKEN: '
'it is being delivered. DONE: it was accepted. REFUSED: it came to another end. CHANGED: it was '
'taken, and has another content now.';
COMMENT ON COLUMN omd_delivery.arrival.fingerprint IS
'The SHA-256 of path, bytes and time of change of its files: as it was when it was taken, before '
'that as it was seen last; NULL: its files were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.files IS
'How many files the fingerprint covers; NULL: they were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.bytes IS 'Their bytes; NULL: they were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.found_datetime IS
'When it became FOUND last; NULL: it never did.';
COMMENT ON COLUMN omd_delivery.arrival.changed_datetime IS
'When its content was first seen as it is now.';
COMMENT ON COLUMN omd_delivery.arrival.delivery_id IS
'The newest delivery that was made of it; NULL: none was.';
COMMENT ON COLUMN omd_delivery.arrival.problem IS
'Why it is UNFIT, INCOMPLETE, REFUSED or CHANGED, or was not moved; NULL: nothing is wrong.';
COMMENT ON COLUMN omd_delivery.arrival.entities IS
'The entities of which it has files, by their names; NULL: its files were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.seen_fingerprint IS
'The fingerprint as it was seen last; NULL: its files were not seen.';
COMMENT ON COLUMN omd_delivery.arrival.refused_fingerprint IS
'The fingerprint of the content that was refused last; NULL: none was. Another content is found '
'again.';
COMMENT ON COLUMN omd_delivery.arrival.moved_to IS
'The path to which it was moved when it was done, from its location; NULL: it was not moved.';

-- Its parameters change: its file creates it again. A call that executes it goes on, under another
-- name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
BEGIN
    IF to_regproc('omd_delivery.register_agreement') IS NOT NULL THEN
        COMMENT ON PROCEDURE omd_delivery.register_agreement IS 'Retired.';
        ALTER PROCEDURE omd_delivery.register_agreement RENAME TO _former_register_agreement;
    END IF;
END
$do$;
