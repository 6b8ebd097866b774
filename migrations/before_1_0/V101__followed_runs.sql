-- V101: process control: what others follow of the instances, what a room does before history is
-- purged, and on which server the installation stands. Applied once.

-- An upgrade has added the columns before (sql/prepare/module_columns.sql).
DO $do$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['omd.batch_instance', 'omd.module_instance'] LOOP
        IF NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = v_table::regclass AND a.attname = 'has_proceeded'
        ) THEN
            EXECUTE format(
                'ALTER TABLE %s ADD COLUMN has_proceeded boolean,'
                ' ADD COLUMN proceeded_datetime timestamptz',
                v_table
            );
        END IF;
    END LOOP;
END
$do$;
COMMENT ON COLUMN omd.batch_instance.has_proceeded IS
'TRUE: an evaluation has answered P. NULL: the instance began before this was recorded.';
COMMENT ON COLUMN omd.batch_instance.proceeded_datetime IS
'When an evaluation in a later transaction than its creation let it proceed; NULL: at its start, '
'or never.';
COMMENT ON COLUMN omd.module_instance.has_proceeded IS
'TRUE: an evaluation has answered P or R. NULL: the instance began before this was recorded.';
COMMENT ON COLUMN omd.module_instance.proceeded_datetime IS
'When an evaluation in a later transaction than its creation let it proceed; NULL: at its start, '
'or never.';

CREATE TABLE omd.before_purge (
    schema_name text NOT NULL,
    before_routine text NOT NULL,
    needed_routine text NOT NULL,
    CONSTRAINT pk_before_purge PRIMARY KEY (schema_name)
);
COMMENT ON TABLE omd.before_purge IS
'What rooms that follow the instances do before omd.purge_history deletes. A room enters its own '
'routines when it is installed, and they are called by these names.';
COMMENT ON COLUMN omd.before_purge.schema_name IS 'The room.';
COMMENT ON COLUMN omd.before_purge.before_routine IS
'A function without parameters that takes note of what has ended, called until it answers 0; '
'NULL: another session is at it.';
COMMENT ON COLUMN omd.before_purge.needed_routine IS
'A function (MODULE or BATCH, ids) that answers which of these instances it still needs.';

CREATE TABLE omd.installation (
    is_only boolean NOT NULL DEFAULT TRUE,
    installation_id uuid NOT NULL DEFAULT gen_random_uuid(),
    installed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    system_identifier bigint,
    database_oid oid,
    is_copy boolean NOT NULL DEFAULT FALSE,
    CONSTRAINT pk_installation PRIMARY KEY (is_only),
    CONSTRAINT ck_installation_only CHECK (is_only)
);
COMMENT ON TABLE omd.installation IS
'Who this installation is to programs outside, and the server on which it was seen: one row.';
COMMENT ON COLUMN omd.installation.is_only IS 'TRUE: there is one row.';
COMMENT ON COLUMN omd.installation.installation_id IS
'Its identity: run ids and events are made of it. A copy that is confirmed gets another one.';
COMMENT ON COLUMN omd.installation.installed_at IS 'When it got its identity.';
COMMENT ON COLUMN omd.installation.system_identifier IS
'The identifier of the server; NULL: nothing outside depends on it yet.';
COMMENT ON COLUMN omd.installation.database_oid IS 'The OID of the database there.';
COMMENT ON COLUMN omd.installation.is_copy IS
'TRUE: somebody has confirmed that this is a copy of another installation.';
INSERT INTO omd.installation DEFAULT VALUES;

CREATE TABLE omd.server_change (
    server_change_id bigint GENERATED ALWAYS AS IDENTITY,
    noticed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind text NOT NULL,
    system_identifier bigint,
    confirmed_as text,
    confirmed_at timestamptz,
    confirmed_by text,
    reason text,
    CONSTRAINT pk_server_change PRIMARY KEY (server_change_id),
    CONSTRAINT ck_server_change_kind CHECK (kind IN ('MOVED', 'COPIED')),
    CONSTRAINT ck_server_change_confirmed CHECK (confirmed_as IN ('MOVED', 'COPY'))
);
COMMENT ON TABLE omd.server_change IS
'When the database was found on another server or under another OID, and what an administrator '
'said about it.';
COMMENT ON COLUMN omd.server_change.server_change_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.server_change.noticed_at IS 'When it was noticed.';
COMMENT ON COLUMN omd.server_change.kind IS
'MOVED: the server has another identifier. COPIED: the database has another OID.';
COMMENT ON COLUMN omd.server_change.system_identifier IS 'The identifier of the server then.';
COMMENT ON COLUMN omd.server_change.confirmed_as IS
'MOVED: this is the installation now. COPY: the other one goes on. NULL: nobody has said.';
COMMENT ON COLUMN omd.server_change.confirmed_at IS 'When somebody said it.';
COMMENT ON COLUMN omd.server_change.confirmed_by IS 'Who said it.';
COMMENT ON COLUMN omd.server_change.reason IS 'Why.';

CREATE TABLE omd.server_routine (
    schema_name text NOT NULL,
    routine text NOT NULL,
    CONSTRAINT pk_server_routine PRIMARY KEY (schema_name)
);
COMMENT ON TABLE omd.server_routine IS
'What each room does when an administrator confirms the server. A room enters its own routine when '
'it is installed, and omd.confirm_server calls it by this name.';
COMMENT ON COLUMN omd.server_routine.schema_name IS 'The room.';
COMMENT ON COLUMN omd.server_routine.routine IS 'A function (MOVED or COPY).';
